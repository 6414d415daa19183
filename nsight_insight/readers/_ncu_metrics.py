"""Canonical metrics and activity columns out of one page of ncu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nsight_insight.catalog.metrics import Metric, load_columns, load_metrics, metric_index, resolve
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.numbers import Codes, Floats
from nsight_insight.model.profile import ColumnOrigin, Ints
from nsight_insight.model.units import FREQUENCY, parse_unit
from nsight_insight.readers._ncu_page import DURATION_PAIRS, Printed
from nsight_insight.readers._ncu_values import Bools, Reading, Sheet

Groups = Sequence[tuple[float | None, Bools]]
_NS = 1e9


@dataclass
class Filled:
    """One metric's column, filled from the best alias each launch has.

    Attributes:
        pick: index into ``origins`` per launch.
    """

    values: Floats
    codes: Codes
    pick: Ints
    origins: list[ColumnOrigin] = field(default_factory=list)

    @classmethod
    def empty(cls, rows: int) -> Filled:
        """Nothing collected."""
        absent = np.full(rows, Missing.ABSENT, dtype=np.uint8)
        return cls(np.full(rows, np.nan), absent, np.zeros(rows, dtype=np.int64))

    def take(self, reading: Reading, rows: Bools) -> None:
        """Fill gaps among ``rows``; where there is no value either, the first reason found stays."""
        open_ = np.isnan(self.values) & rows
        hit = open_ & ~np.isnan(reading.values)
        reason = open_ & ~hit & (self.codes == Missing.ABSENT) & (reading.codes != Missing.ABSENT)
        if not (hit | reason).any():
            return
        self.values[hit] = reading.values[hit]
        self.codes[hit | reason] = reading.codes[hit | reason]
        self.pick[hit | reason] = len(self.origins)
        self.origins.append(reading.origin)


def metric_columns(sheet: Sheet, cc: Floats) -> dict[str, Filled]:
    """Every metric and activity column the page can serve.

    Args:
        sheet: the page.
        cc: compute capability per launch, NaN unknown: names that a chip does not have are passed over.
    """
    groups = _groups(cc)
    columns: dict[str, Filled] = {}
    carried = {metric.name for name in sheet.page.printed for metric, _ in metric_index().get(name, ())}
    for metric in (*load_metrics().values(), *load_columns().values()):
        if metric.name not in carried and metric.name != "duration":
            continue
        filled = _fill(metric, sheet, groups)
        if metric.name == "duration":
            filled.values = np.round(filled.values, 3)  # 2.944 us * 1000 is 2944.0000000000005 ns
            _derive_duration(filled, sheet)
        if filled.origins:
            _refuse_impossible(metric, filled, sheet)
            columns[metric.name] = filled
    return columns


def _groups(cc: Floats) -> Groups:
    known: Groups = [(float(value), cc == value) for value in np.unique(cc[~np.isnan(cc)])]
    unknown = np.isnan(cc)
    return [*known, (None, unknown)] if unknown.any() else known


def _fill(metric: Metric, sheet: Sheet, groups: Groups) -> Filled:
    rows = len(sheet.page)
    usable: dict[int, Bools] = {}
    for cc, group in groups:
        for place, _ in resolve(metric, sheet.page.printed, cc):
            usable[place] = usable.get(place, np.zeros(rows, dtype=np.bool_)) | group
    filled = Filled.empty(rows)
    for place in sorted(usable):
        for reading in sheet.readings(metric, metric.aliases[place]):
            filled.take(reading, usable[place])
    return filled


def _refuse_impossible(metric: Metric, filled: Filled, sheet: Sheet) -> None:
    """No metric is negative, and some have a bound: what breaks it is an input error, never a finding."""
    with np.errstate(invalid="ignore"):
        bad = (filled.values < 0) | (filled.values > (np.inf if metric.maximum is None else metric.maximum))
    for row in np.flatnonzero(bad)[:1].tolist():
        origin = filled.origins[int(filled.pick[row])]
        sheet.report(origin, row, f"{metric.name} cannot be {filled.values[row]:.6g}", bad)
    filled.values[bad] = np.nan
    filled.codes[bad] = Missing.IMPOSSIBLE


def _derive_duration(filled: Filled, sheet: Sheet) -> None:
    """Cycles over clock where the duration was not collected; ``avg.per_second`` is per second of that duration."""
    for cycles_name, clock_name in DURATION_PAIRS:
        if not np.isnan(filled.values).any():
            return
        cycles, clock = (sheet.page.printed.get(name) for name in (cycles_name, clock_name))
        if not cycles or not clock or not sheet.scaled_units_known:
            continue
        count, codes = sheet.numbers(cycles[0])
        hertz = _hertz(clock[0], sheet)
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds = np.where(hertz > 0, count / hertz, np.nan)
        names = f"{cycles[0].field} / {clock[0].field}"
        origin = replace(cycles[0].origin(""), field=names)
        known = filled.origins[:]
        filled.take(Reading(np.rint(seconds * _NS), codes, origin), np.ones(len(seconds), dtype=np.bool_))
        if filled.origins != known:
            text = f"no duration collected: taken from {names}"
            sheet.issues.append(Issue(Level.INFO, text, Location(sheet.path, sheet.page.lines[0])))


def _hertz(printed: Printed, sheet: Sheet) -> Floats:
    values, _ = sheet.numbers(printed)
    units = [printed.units] * len(values) if isinstance(printed.units, str) else printed.units
    return values * np.array([_clock_scale(unit) for unit in units], dtype=np.float64)


def _clock_scale(unit: str) -> float:
    parsed = parse_unit(unit or "hz")
    return parsed.scale if parsed is not None and parsed.dimension.same_kind(FREQUENCY) else np.nan
