"""Cells of an nsys table to activity columns: units, integers, triples, GPU names, and what was lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.catalog.nsys_reports import Heading, ReportFormat
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ColumnOrigin, Device, Ints
from nsight_insight.model.units import BANDWIDTH, BYTES, TIME, parse_unit
from nsight_insight.readers._nsys_cells import Cells, Codes, Floats, Objects, read_cells
from nsight_insight.readers._nsys_memory import memory_place
from nsight_insight.readers._nsys_scan import Block

_NUMBERS: Final = frozenset({"throughput", "htod", "dtoh"})
_TRIPLES: Final = ("grid", "block")
_KEY_FIGURES: Final = frozenset({"start", "duration", "count", "bytes", "avg"})
_GPU: Final = re.compile(r"(.*?)\s*\((\d{1,6})\)\s*", re.DOTALL)
_OLD_SIZE_UNIT: Final = "KiB"
"""The size table of 2019 to 2021 prints no unit beside its figures; its title says KiB."""
_EXACT: Final = 2.0**53
"""Where a float stops telling neighbouring integers apart."""


@dataclass
class Field:
    """One heading that is read."""

    heading: Heading
    key: str
    target: str
    position: int
    column: int
    scale: float = 1.0

    @property
    def numeric(self) -> bool:
        column = ACTIVITY_COLUMNS.get(self.target)
        return self.target in _NUMBERS or (column is not None and column.dtype != "object")

    @property
    def origin(self) -> ColumnOrigin:
        return ColumnOrigin(self.heading.text, self.column, self.heading.unit)


@dataclass
class Builder:
    """Columns under construction.

    Attributes:
        rows: record of the block that each row of the table comes from.
        columns: activity columns, and headings that only help to derive others (``throughput``, ``category``).
    """

    path: str
    report: ReportFormat
    block: Block
    rows: Ints
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    origins: dict[str, tuple[ColumnOrigin, ...]] = field(default_factory=dict)
    pick: dict[str, Ints] = field(default_factory=dict)
    reasons: dict[str, Codes] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)

    def line(self, row: int) -> int:
        return self.block.numbers[int(self.rows[row])]


def read_columns(block: Block, report: ReportFormat, path: str, *, large: bool) -> Builder:
    """The columns the report's headings name, for the rows that have their key figures."""
    wanted, issues = _wanted(block, report, path)
    numbers = [item.position for item in wanted if item.numeric]
    texts = [item.position for item in wanted if not item.numeric]
    cells = read_cells(block.records, numbers, texts, large=large)
    rows, dropped = _usable_rows(wanted, cells, report, block, path)
    builder = Builder(path, report, block, rows, issues=[*issues, *dropped])
    for item in wanted:
        if item.numeric:
            _add_number(builder, item, *cells.numbers[item.position])
        else:
            _add_text(builder, item, cells.texts[item.position])
    return builder


def _wanted(block: Block, report: ReportFormat, path: str) -> tuple[list[Field], list[Issue]]:
    """The headings to read, with the factor that turns their figures into ns or bytes."""
    places = report.places(block.headings)
    default = next((h.unit for h in block.headings if h.key in ("total time", "duration") and h.unit), "ns")
    found: list[Field] = []
    issues: list[Issue] = []
    for key, target in report.columns.items():
        if key not in places:
            continue
        heading = block.headings[places[key]]
        scale = _scale(target, heading.unit or report.units.get(key, ""), default)
        if scale is None:
            location = Location(path, block.line, block.column(places[key]), heading.text)
            issues.append(Issue(Level.DATA_LOSS, f"column left out, its unit {heading.unit!r} is unknown", location))
        else:
            found.append(Field(heading, key, target, places[key], block.column(places[key]), scale))
    return found, issues


def _scale(target: str, unit: str, default_time: str) -> float | None:
    """Factor to ns, bytes or byte/s; None for a unit of another kind."""
    column = ACTIVITY_COLUMNS.get(target)
    if column is not None and column.unit == "ns":
        parsed = parse_unit(unit or default_time)
        return round(parsed.scale * 1e9, 6) if parsed and parsed.dimension == TIME else None
    if target in ("htod", "dtoh") or (column is not None and column.unit == "byte"):
        parsed = parse_unit(unit or _OLD_SIZE_UNIT)
        return parsed.scale if parsed and parsed.dimension == BYTES else None
    if target == "throughput":
        parsed = parse_unit(unit)
        return parsed.scale if parsed and parsed.dimension == BANDWIDTH else None
    return 1.0


def _usable_rows(
    wanted: Sequence[Field], cells: Cells, report: ReportFormat, block: Block, path: str
) -> tuple[Ints, list[Issue]]:
    """Rows whose key figures are there and not negative, counts whole."""
    keep = np.ones(len(block.records), dtype=bool)
    issues: list[Issue] = []
    for item in wanted:
        if item.key not in report.key or item.target not in _KEY_FIGURES:
            continue
        values = cells.numbers[item.position][0]
        valid = (values >= 0) & (_whole(values) | (item.target != "count"))
        bad = np.flatnonzero(keep & ~valid)
        if len(bad):
            keep[bad] = False
            rows = "a row" if len(bad) == 1 else f"{len(bad)} rows"
            text = f"{report.name}: {rows} skipped, no valid number under {item.heading.text!r}"
            location = Location(path, block.numbers[int(bad[0])], item.column, item.heading.text)
            issues.append(Issue(Level.DATA_LOSS, text, location))
    return np.flatnonzero(keep), issues


def _whole(values: Floats) -> npt.NDArray[np.bool_]:
    whole: npt.NDArray[np.bool_] = np.isfinite(values) & (values == np.rint(values)) & (np.abs(values) < _EXACT)
    return whole


def _add_number(builder: Builder, item: Field, all_values: Floats, all_codes: Codes) -> None:
    values, codes = all_values[builder.rows], all_codes[builder.rows].copy()
    if item.scale != 1.0:
        values = np.round(values * item.scale, 4)
    column = ACTIVITY_COLUMNS.get(item.target)
    if column is not None and column.dtype == "int64":
        whole = _whole(values)
        codes[~whole & (codes == Missing.PRESENT)] = Missing.UNPARSABLE
        builder.columns[item.target] = np.where(whole, values, -1).astype(np.int64)
    else:
        builder.columns[item.target] = values
    builder.origins[item.target] = (item.origin,)
    _note_gaps(builder, item, codes, item.target)


def _note_gaps(builder: Builder, item: Field, codes: Codes, column: str) -> None:
    """Keeps the reasons of empty cells and reports those that should have been numbers."""
    if not codes.any():
        return
    builder.reasons[column] = codes
    wrong = np.flatnonzero((codes != Missing.PRESENT) & (codes != Missing.EMPTY))
    if len(wrong):
        cells = "a cell" if len(wrong) == 1 else f"{len(wrong)} cells"
        text = f"{builder.report.name}: {cells} left out, not a number"
        location = Location(builder.path, builder.line(int(wrong[0])), item.column, item.heading.text)
        builder.issues.append(Issue(Level.DATA_LOSS, text, location))


def _add_text(builder: Builder, item: Field, all_cells: Objects) -> None:
    cells = all_cells[builder.rows]
    if item.target in _TRIPLES:
        _add_triple(builder, item, cells)
    elif item.target == "gpu":
        _add_gpu(builder, item, cells)
    else:
        if item.target in ("src_kind", "dst_kind"):
            cells = mapped(cells, memory_place)
        builder.columns[item.target] = cells
        builder.origins[item.target] = (item.origin,)


def mapped(cells: Iterable[str], function: Callable[[str], str]) -> Objects:
    """``function`` of every cell, as an object array."""
    found = [function(cell) for cell in cells]
    values = np.empty(len(found), dtype=object)
    values[:] = found
    return values


def _add_triple(builder: Builder, item: Field, cells: Objects) -> None:
    """``" 128    1    1"`` -> x, y, z."""
    figures = np.full((len(cells), 3), np.nan)
    codes = np.full(len(cells), Missing.UNPARSABLE, dtype=np.uint8)
    for row, cell in enumerate(cells):
        parts = cell.split()
        if len(parts) == 3 and all(part.isascii() and part.isdigit() for part in parts):
            figures[row] = [float(part) for part in parts]
            codes[row] = Missing.PRESENT
        elif not parts or parts == ["None"]:
            codes[row] = Missing.EMPTY
    for index, axis in enumerate("xyz"):
        builder.columns[f"{item.target}_{axis}"] = figures[:, index]
        builder.origins[f"{item.target}_{axis}"] = (item.origin,)
        if codes.any():
            builder.reasons[f"{item.target}_{axis}"] = codes
    _note_gaps(builder, item, codes, f"{item.target}_x")


def _add_gpu(builder: Builder, item: Field, cells: Objects) -> None:
    """``NVIDIA H200 (0)`` -> device index and the GPU's name."""
    indices = np.full(len(cells), -1, dtype=np.int64)
    seen: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell not in seen:
            found = _GPU.fullmatch(cell)
            seen[cell] = int(found[2]) if found else -1
            if found and seen[cell] >= 0:
                place = Location(builder.path, builder.line(row), item.column, item.heading.text)
                builder.devices.append(Device(seen[cell], found[1], location=place))
        indices[row] = seen[cell]
    builder.columns["device"] = indices
    builder.origins["device"] = (item.origin,)
