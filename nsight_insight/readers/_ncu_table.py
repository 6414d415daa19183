"""One page of ncu to one ``Table``: activity columns, devices, and what NVIDIA's own rules said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from nsight_insight.catalog.metrics import Attribute, load_attributes
from nsight_insight.errors import UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.numbers import AmbiguousNumbers, Style, decide_style, read_number
from nsight_insight.model.profile import Device, Ints, Source, Table, VendorFinding
from nsight_insight.readers._ncu_banners import without_directories
from nsight_insight.readers._ncu_identity import (
    Array,
    compute_capability,
    identity_columns,
    identity_origins,
    shape_columns,
)
from nsight_insight.readers._ncu_layout import (
    NAME,
    RULE,
    RULE_TEXT,
    RULE_TYPE,
    SECTION,
    SPEEDUP,
    SPEEDUP_TYPE,
)
from nsight_insight.readers._ncu_metrics import metric_columns
from nsight_insight.readers._ncu_page import Page
from nsight_insight.readers._ncu_rules import plain_message
from nsight_insight.readers._ncu_values import Sheet

_FAILED: Final = "ERR"
"""Type of a rule that failed: its text is a traceback, with files of the user's."""
_SPREAD: Final = ("min", "avg", "median", "max")
_DEVICE_INDEX: Final = "device__attribute_device_index"
_DEVICE_NUMBERS: Final = ("sm_count", "max_sm_clock", "max_memory_clock", "memory_bus_width")


def build_table(page: Page, path: str, reader: str) -> tuple[Table, list[Issue]]:
    """The table of a page and what was lost in it.

    Args:
        page: the table as text.
        path: of the input.
        reader: name of the reader that found it.

    Raises:
        UnrecognizedInput: its numbers can be read in two ways.
    """
    sheet = Sheet(page, _style(page, path), path)
    if not sheet.scaled_units_known:
        text = "no row of units: times, bytes and clocks are left out, because ncu scales them as it sees fit"
        sheet.issues.append(Issue(Level.DATA_LOSS, text, Location(path, page.line)))
    columns: dict[str, Array] = {**identity_columns(page), "cc": compute_capability(sheet)}
    if "device" not in columns:
        columns["device"] = _device_indices(sheet)
    measured = metric_columns(sheet, columns["cc"])
    shape_columns(page, measured)
    if "duration" in measured:
        measured.update(dict.fromkeys(_SPREAD, measured["duration"]))
    columns.update({name: filled.values for name, filled in measured.items()})
    source = Source(
        path=path,
        reader=reader,
        tool="ncu",
        report=page.report,
        rows=len(page),
        columns={**identity_origins(page), **{name: tuple(filled.origins) for name, filled in measured.items()}},
        pick={name: filled.pick for name, filled in measured.items() if len(filled.origins) > 1},
        reasons={name: filled.codes for name, filled in measured.items() if filled.codes.any()},
        available=page.available,
        facts=_facts(sheet),
    )
    return Table(source, columns, list(_devices(sheet, columns)), list(_vendor(sheet))), sheet.issues


def _facts(sheet: Sheet) -> dict[str, str | float]:
    """How often ncu ran a launch, at most."""
    runs = [
        sheet.numbers(printed)[0]
        for name in load_attributes()["replay_passes"].metrics
        for printed in sheet.page.printed.get(name, ())
    ]
    known = np.concatenate(runs) if runs else np.zeros(0)
    known = known[known > 0]
    return {"replay_passes": float(known.max())} if len(known) else {}


def _style(page: Page, path: str) -> Style:
    """How the table writes numbers: from the cells that are used, from all others where those do not tell."""
    if page.style is not None:
        return page.style
    asked = [cell for columns in page.printed.values() for printed in columns for cell in printed.cells if cell]
    try:
        return decide_style(asked)
    except AmbiguousNumbers:
        try:
            return decide_style([*asked, *page.evidence])
        except AmbiguousNumbers as error:
            text = f"the numbers are ambiguous: {error}; print the table again with LC_ALL=C ncu --import REPORT --csv"
            raise UnrecognizedInput(text, path=path, line=page.line) from error


def _device_indices(sheet: Sheet) -> Array:
    """Device per launch where the table has no such cell, -1 unknown."""
    for printed in sheet.page.printed.get(_DEVICE_INDEX, ()):
        return np.nan_to_num(sheet.numbers(printed)[0], nan=-1.0).astype(np.int64)
    return np.full(len(sheet.page), -1, dtype=np.int64)


def _devices(sheet: Sheet, columns: dict[str, Array]) -> Iterator[Device]:
    """One entry per device index, -1 where the table does not number devices."""
    for index in np.unique(columns["device"]).tolist():
        rows = np.flatnonzero(columns["device"] == index)
        device = _device(sheet, index, rows, columns["cc"][rows])
        if device.name or device.cc is not None or device.sm_count is not None:
            yield device


def _device(sheet: Sheet, index: int, rows: Ints, cc: Array) -> Device:
    attributes = load_attributes()
    name, place = _device_name(sheet, attributes["gpu_name"], rows)
    known = {key: _device_number(sheet, attributes[key], rows) for key in _DEVICE_NUMBERS}
    sm_count, sm_clock, memory_clock, bus = (known[key] for key in _DEVICE_NUMBERS)
    capability = cc[~np.isnan(cc)]
    return Device(
        index,
        name,
        float(capability[0]) if len(capability) else None,
        None if sm_count is None else int(sm_count),
        sm_clock,
        dram_bandwidth(memory_clock, bus),
        place or Location(sheet.path, sheet.page.lines[int(rows[0])]),
    )


def dram_bandwidth(clock: float | None, bus: float | None) -> float | None:
    """Peak in byte/s from clock in Hz and bus width in bits."""
    # Two bits per line and cycle on every memory that reports both, HBM included.
    return clock * 2 * bus / 8 if clock and bus else None


def _device_name(sheet: Sheet, attribute: Attribute, rows: Ints) -> tuple[str, Location | None]:
    for metric in attribute.metrics:
        for printed in sheet.page.printed.get(metric, ()):
            for row in rows.tolist():
                if text := (printed.cells[row] or "").strip():
                    return text, sheet.place(printed.origin(""), row)
    return "", None


def _device_number(sheet: Sheet, attribute: Attribute, rows: Ints) -> float | None:
    for metric in attribute.metrics:
        for printed in sheet.page.printed.get(metric, ()):
            values = sheet.numbers(printed)[0][rows]
            values = values[values > 0]
            if len(values):
                return float(values[0]) * attribute.scale
    return None


def _vendor(sheet: Sheet) -> Iterator[VendorFinding]:
    """Every rule result, the reassuring ones too: ``kind`` tells them apart."""
    page = sheet.page
    for rule in page.rules:
        cells = rule.cells
        kind, text = cells.get(RULE_TYPE, ""), plain_message(cells.get(RULE_TEXT, ""))
        yield VendorFinding(
            tool="ncu",
            rule=cells[RULE],
            kind=kind,
            text=without_directories(text) if kind == _FAILED else text,
            location=Location(sheet.path, rule.line, rule.column, rule.field),
            section=cells.get(SECTION, ""),
            kernel=page.texts[NAME][rule.row],
            row=rule.row,
            scope=cells.get(SPEEDUP_TYPE, ""),
            estimated_speedup=_speedup(cells.get(SPEEDUP, ""), (sheet.style, Style.PLAIN)),
        )


def _speedup(cell: str, styles: Sequence[Style]) -> float | None:
    """Percent of the kernel's time as a fraction; prose is in C notation whatever the table's, this cell may be."""
    for style in styles:
        percent = read_number(cell.strip(), style)
        if percent is not None:
            return percent / 100 if percent <= 100 else None
    return None
