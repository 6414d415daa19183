"""A clause of a rule to evidence: each value it compared, and the cell it was read from."""

from __future__ import annotations

import numpy as np

from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.finding import Evidence, Quantity
from nsight_insight.model.issues import Location
from nsight_insight.model.profile import Profile
from nsight_insight.model.text import clean
from nsight_insight.model.units import BANDWIDTH, BYTES, FLOP_RATE, FREQUENCY, TIME, Dimension, parse_unit
from nsight_insight.rules import vocabulary
from nsight_insight.rules.evaluate import Outcome, expand
from nsight_insight.rules.grouping import group_value
from nsight_insight.rules.model import Clause
from nsight_insight.views.facts import Fact, FactTable, Ints

_UNIT_NAMES = {TIME: "s", BYTES: "byte", BANDWIDTH: "byte/s", FLOP_RATE: "flop/s", FREQUENCY: "Hz"}
MAX_VALUES = 8


def clause_evidence(
    clause: Clause, text: str, outcome: Outcome, lead: int, rows: Ints, profile: Profile, device_facts: FactTable
) -> Evidence:
    """The values behind one clause, most direct first, at most ``MAX_VALUES``."""
    values: dict[str, Quantity] = {}
    facts = vocabulary.facts(outcome.rule.scope)
    names = expand(clause.condition.names, outcome.rule)
    # What everything is divided by says least.
    for name in sorted(names, key=lambda name: (name.endswith("kernel_time"), name)):
        if name in facts:
            for quantity in _quantities(name, facts[name], outcome, lead, rows, profile, device_facts):
                values.setdefault(quantity.name, quantity)
    return Evidence(clause.id, text, tuple(values.values())[:MAX_VALUES])


def _quantities(
    name: str, fact: Fact, outcome: Outcome, lead: int, rows: Ints, profile: Profile, device_facts: FactTable
) -> list[Quantity]:
    table = outcome.table
    if name.startswith(vocabulary.TRACE_PREFIX):
        table, lead = device_facts, _device_row(device_facts, int(outcome.table.devices[lead]))
        if lead < 0:
            return []
        rows, plain = np.array([lead], dtype=np.int64), name.removeprefix(vocabulary.TRACE_PREFIX)
    else:
        plain = name
    row = _evidence_row(table, plain, lead)
    main = _quantity(plain, fact, table, lead, rows, row, profile)
    inputs = [] if fact.column else [_cell(need, row, profile) for need in fact.needs]
    return [main, *(cell for cell in inputs if cell is not None)]


def _quantity(name: str, fact: Fact, table: FactTable, lead: int, rows: Ints, row: int, profile: Profile) -> Quantity:
    values = table.values.get(name)
    value: float | str | None = None
    if values is not None and fact.kind == "text":
        value = None if values[lead] is None else clean(str(values[lead]))
    elif values is not None:
        number = group_value(name, values, rows, table)
        value = None if np.isnan(number) else number
    place = _cell(fact.column, row, profile) if fact.column else None
    combined = table.combined.get(name, f"{len(rows)} subjects" if len(rows) > 1 else "")
    if not combined and place and isinstance(value, float) and not _same(value, place.cell):
        combined = "sum; its largest part is shown"
    return Quantity(
        name, value, unit_name(fact.dimension) if fact.kind == "number" else "",
        place.location if place else None, place.cell if place else None, combined,
    )  # fmt: skip


def _same(value: float, cell: float | None) -> bool:
    return cell is not None and abs(value - cell) <= 1e-9 * max(abs(value), abs(cell))


def _cell(column: str, row: int, profile: Profile) -> Quantity | None:
    """The number in one activity cell, in SI, with its place; None when the cell holds none."""
    frame = profile.activities
    if not column or column not in frame.columns:
        return None
    value = frame[column].to_numpy()[row]
    if isinstance(value, str):
        return Quantity(column, clean(value), "", _place(profile, row, column))
    number = float(value)
    if np.isnan(number):
        return None
    contract = ACTIVITY_COLUMNS.get(column) or load_metrics().get(column)
    unit = parse_unit(contract.unit) if contract else None
    si = number * unit.scale if unit else number
    return Quantity(column, si, unit_name(unit.dimension) if unit else "", _place(profile, row, column), si)


def _place(profile: Profile, row: int, column: str) -> Location | None:
    location = profile.locate(row, column)
    return location if location.field or location.table else None


def _evidence_row(table: FactTable, name: str, lead: int) -> int:
    rows = table.evidence_rows.get(name)
    return int(table.lead[lead] if rows is None or rows[lead] < 0 else rows[lead])


def _device_row(device_facts: FactTable, device: int) -> int:
    found = np.flatnonzero(device_facts.devices == device)
    return int(found[0]) if len(found) else -1


def unit_name(dimension: Dimension) -> str:
    """The SI unit a value of this dimension is given in; ``fraction`` for shares, ``1`` for counts."""
    if dimension.fraction:
        return "fraction"
    return _UNIT_NAMES.get(dimension, "1")
