"""One nsys table as text to one ``Table`` of activity columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.catalog.nsys_reports import Heading, ReportFormat, choose_report
from nsight_insight.model.columns import ACTIVITY_COLUMNS, Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ColumnOrigin, Device, Source, Table
from nsight_insight.model.units import BYTES, TIME, parse_unit
from nsight_insight.readers._nsys_cells import Cells, Codes, Floats, read_cells
from nsight_insight.readers._nsys_memory import (
    MIGRATION_NAMES,
    copy_direction,
    memory_kind,
    memory_place,
    true_bytes,
)
from nsight_insight.readers._nsys_scan import Block, fields

READER: Final = "nsys_csv"
_SAMPLE: Final = 1000
_NUMBERS: Final = frozenset({"throughput", "htod", "dtoh"})
_TRIPLES: Final = ("grid", "block")
_GPU: Final = re.compile(r"(.*?)\s*\((\d+)\)\s*", re.DOTALL)
_CATEGORIES: Final = {"CUDA_KERNEL": Kind.KERNEL, "CUDA_API": Kind.API, "CUDA_GRAPH": Kind.GRAPH}
_OLD_SIZE_UNIT: Final = "KiB"
"""The size table of 2019 to 2021 prints no unit beside its figures; its title says KiB."""


def report_of(block: Block) -> ReportFormat:
    """The report a block is: by its headings, then its cells, then the banner before it."""

    def cells_under(report: ReportFormat, heading: str) -> Sequence[str]:
        position = report.places(block.headings)[heading]
        return [(fields(record) or [])[position] for record in block.records[:_SAMPLE]]

    if len(block.candidates) == 1:
        return block.candidates[0]
    return choose_report(block.candidates, block.banner, cells_under)


@dataclass
class _Field:
    """One heading that is read."""

    heading: Heading
    key: str
    target: str
    position: int
    scale: float = 1.0

    @property
    def numeric(self) -> bool:
        column = ACTIVITY_COLUMNS.get(self.target)
        return self.target in _NUMBERS or (column is not None and column.dtype != "object")

    @property
    def origin(self) -> ColumnOrigin:
        return ColumnOrigin(self.heading.text, self.position + 1, self.heading.unit)


@dataclass
class _Builder:
    """Columns under construction; ``keep`` are the rows that have their key figures."""

    path: str
    report: ReportFormat
    block: Block
    rows: npt.NDArray[np.int64]
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    origins: dict[str, tuple[ColumnOrigin, ...]] = field(default_factory=dict)
    reasons: dict[str, Codes] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)

    def line(self, row: int) -> int:
        return self.block.numbers[int(self.rows[row])]


def build_table(block: Block, report: ReportFormat, path: str, *, large: bool) -> tuple[Table, list[Issue]]:
    """The table of a block whose report is known, and what was lost on the way."""
    wanted, issues = _wanted(block, report, path)
    numbers = [item.position for item in wanted if item.numeric]
    texts = [item.position for item in wanted if not item.numeric]
    cells = read_cells(block.records, numbers, texts, large=large)
    rows, dropped = _usable_rows(wanted, cells, report, block, path)
    builder = _Builder(path, report, block, rows, issues=[*issues, *dropped, *_bad_line_issues(block, report, path)])
    for item in wanted:
        if item.numeric:
            _add_number(builder, item, *cells.numbers[item.position])
        else:
            _add_text(builder, item, cells.texts[item.position])
    _complete(builder)
    return _table(builder), builder.issues


def _wanted(block: Block, report: ReportFormat, path: str) -> tuple[list[_Field], list[Issue]]:
    """The headings to read, with the factor that turns their figures into ns or bytes."""
    places = report.places(block.headings)
    default = next((h.unit for h in block.headings if h.key in ("total time", "duration") and h.unit), "ns")
    found: list[_Field] = []
    issues: list[Issue] = []
    for key, target in report.columns.items():
        if key not in places:
            continue
        heading = block.headings[places[key]]
        scale = _scale(target, heading.unit, default)
        if scale is None:
            location = Location(path, block.line, places[key] + 1, heading.text)
            issues.append(Issue(Level.DATA_LOSS, f"column left out, its unit {heading.unit!r} is unknown", location))
        else:
            found.append(_Field(heading, key, target, places[key], scale))
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
        return parsed.scale if parsed and parsed.dimension == BYTES / TIME else None
    return 1.0


def _usable_rows(
    wanted: Sequence[_Field], cells: Cells, report: ReportFormat, block: Block, path: str
) -> tuple[npt.NDArray[np.int64], list[Issue]]:
    """Rows whose key figures are there and not negative."""
    keep = np.ones(len(block.records), dtype=bool)
    issues: list[Issue] = []
    for item in wanted:
        if not item.numeric or item.key not in report.key or item.target.startswith(("grid", "correlation")):
            continue
        values = cells.numbers[item.position][0]
        bad = np.flatnonzero(keep & ~(values >= 0))
        if len(bad):
            keep[bad] = False
            rows = "a row" if len(bad) == 1 else f"{len(bad)} rows"
            text = f"{report.name}: {rows} skipped, no valid number under {item.heading.text!r}"
            location = Location(path, block.numbers[int(bad[0])], item.position + 1, item.heading.text)
            issues.append(Issue(Level.DATA_LOSS, text, location))
    return np.flatnonzero(keep), issues


def _bad_line_issues(block: Block, report: ReportFormat, path: str) -> list[Issue]:
    wanted = len(block.headings)
    return [
        Issue(
            Level.DATA_LOSS,
            f"{report.name}: {'line' if first == last else f'lines up to {last}'} skipped, not a row of {wanted} cells",
            Location(path, first),
        )
        for first, last in block.bad
    ]


def _add_number(builder: _Builder, item: _Field, all_values: Floats, all_codes: Codes) -> None:
    values, codes = all_values[builder.rows], all_codes[builder.rows].copy()
    if item.scale != 1.0:
        values = np.round(values * item.scale, 4)
    column = ACTIVITY_COLUMNS.get(item.target)
    if column is not None and column.dtype == "int64":
        # 2**53 is where a float stops telling neighbouring integers apart.
        whole = np.isfinite(values) & (values == np.rint(values)) & (np.abs(values) < 2**53)
        codes[~whole & (codes == Missing.PRESENT)] = Missing.UNPARSABLE
        builder.columns[item.target] = np.where(whole, values, -1).astype(np.int64)
    else:
        builder.columns[item.target] = values
    builder.origins[item.target] = (item.origin,)
    _note_gaps(builder, item, codes, item.target)


def _note_gaps(builder: _Builder, item: _Field, codes: Codes, column: str) -> None:
    """Keeps the reasons of empty cells and reports those that should have been numbers."""
    if not codes.any():
        return
    builder.reasons[column] = codes
    wrong = np.flatnonzero((codes != Missing.PRESENT) & (codes != Missing.EMPTY))
    if len(wrong):
        cells = "a cell" if len(wrong) == 1 else f"{len(wrong)} cells"
        text = f"{builder.report.name}: {cells} left out, not a number"
        location = Location(builder.path, builder.line(int(wrong[0])), item.position + 1, item.heading.text)
        builder.issues.append(Issue(Level.DATA_LOSS, text, location))


def _add_text(builder: _Builder, item: _Field, all_cells: npt.NDArray[np.object_]) -> None:
    cells = all_cells[builder.rows]
    if item.target in _TRIPLES:
        _add_triple(builder, item, cells)
    elif item.target == "gpu":
        _add_gpu(builder, item, cells)
    else:
        if item.target in ("src_kind", "dst_kind"):
            cells = _mapped(cells, memory_place)
        builder.columns[item.target] = cells
        builder.origins[item.target] = (item.origin,)


def _mapped(cells: Sequence[str] | npt.NDArray[np.object_], function: Any) -> npt.NDArray[np.object_]:
    values = np.empty(len(cells), dtype=object)
    values[:] = [function(cell) for cell in cells]
    return values


def _add_triple(builder: _Builder, item: _Field, cells: npt.NDArray[np.object_]) -> None:
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


def _add_gpu(builder: _Builder, item: _Field, cells: npt.NDArray[np.object_]) -> None:
    """``NVIDIA H200 (0)`` -> device index and the GPU's name."""
    indices = np.full(len(cells), -1, dtype=np.int64)
    seen: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell not in seen:
            found = _GPU.fullmatch(cell)
            seen[cell] = int(found[2]) if found and len(found[2]) < 10 else -1
            if found and seen[cell] >= 0:
                place = Location(builder.path, builder.line(row), item.position + 1, item.heading.text)
                builder.devices.append(Device(seen[cell], found[1], location=place))
        indices[row] = seen[cell]
    builder.columns["device"] = indices
    builder.origins["device"] = (item.origin,)


def _complete(builder: _Builder) -> None:
    """Columns that follow from others: kinds, directions, counts, sizes, totals."""
    columns, report = builder.columns, builder.report
    if "throughput" in columns:
        _refine_bytes(builder)
    if "duration" not in columns and {"avg", "count"} <= columns.keys():
        columns["duration"] = np.rint(columns["avg"] * columns["count"])
        builder.origins["duration"] = builder.origins["avg"]
    if "style" in columns or report.fixed:
        columns["_style"] = columns.pop("style", _filled(len(builder.rows), report.fixed.get("style", "")))
        builder.origins.pop("style", None)
    if report.kind == "migration":
        _split_migrations(builder)
    if "count" not in columns:
        unknown = report.kind == "migration"
        columns["count"] = np.full(len(builder.rows), -1 if unknown else 1, dtype=np.int64)
    _add_kind(builder)


def _refine_bytes(builder: _Builder) -> None:
    throughput = builder.columns.pop("throughput")
    del builder.origins["throughput"]
    builder.reasons.pop("throughput", None)
    exact = builder.origins["duration"][0].unit in ("", "ns")
    if exact and "bytes" in builder.columns:
        builder.columns["bytes"] = true_bytes(builder.columns["bytes"], throughput, builder.columns["duration"])


def _filled(length: int, text: str) -> npt.NDArray[np.object_]:
    return np.full(length, text, dtype=object)


def _split_migrations(builder: _Builder) -> None:
    """Two rows per line, one for each way that memory moved."""
    ways = [way for way in MIGRATION_NAMES if way in builder.columns]
    rows = len(builder.rows)
    builder.rows = np.repeat(builder.rows, len(ways))
    figures = [builder.columns.pop(way) for way in ways]
    builder.columns["bytes"] = np.stack(figures, axis=1).reshape(-1) if ways else np.empty(0)
    builder.columns["name"] = np.array([MIGRATION_NAMES[way] for way in ways] * rows, dtype=object)
    builder.origins["bytes"] = tuple(builder.origins.pop(way)[0] for way in ways)
    for way in ways:
        builder.reasons.pop(way, None)


def _add_kind(builder: _Builder) -> None:
    columns, kind = builder.columns, builder.report.kind
    names = columns["name"]
    operations = _mapped(names, memory_kind)
    if kind in ("memory", "migration"):
        kinds = np.where(operations == Kind.MEMSET.value, Kind.MEMSET.value, Kind.MEMCPY.value).astype(object)
    elif kind == "gpu":
        kinds = np.where(operations == "", Kind.KERNEL.value, operations)
    elif kind == "category":
        kinds = _kinds_by_category(builder, columns.pop("category"), operations)
    else:
        kinds = _filled(len(names), kind)
    columns["kind"] = kinds
    if (kinds == Kind.MEMCPY.value).any():
        columns["direction"] = _mapped(names, copy_direction)
        builder.origins["direction"] = builder.origins.get("name", ())


def _kinds_by_category(
    builder: _Builder, categories: npt.NDArray[np.object_], operations: npt.NDArray[np.object_]
) -> npt.NDArray[np.object_]:
    """Kinds by the Category column; a row of an unknown category becomes a range, which no sum counts."""
    builder.origins["kind"] = builder.origins.pop("category")
    kinds = _filled(len(categories), "")
    for row, category in enumerate(categories):
        kinds[row] = _CATEGORIES.get(category) or (operations[row] if category == "MEMORY_OPER" else "")
    unknown = np.flatnonzero(kinds == "")
    if len(unknown):
        text = f"{builder.report.name}: {len(unknown)} rows of an unknown category are not analysed"
        builder.issues.append(Issue(Level.DATA_LOSS, text, Location(builder.path, builder.line(int(unknown[0])))))
        kinds[unknown] = Kind.RANGE.value
    return kinds


def _table(builder: _Builder) -> Table:
    rows = len(builder.rows)
    builder.columns["line"] = np.array([builder.line(row) for row in range(rows)], dtype=np.int64)
    origins = {name: origins for name, origins in builder.origins.items() if origins}
    pick = {}
    if builder.report.kind == "migration" and len(origins["bytes"]) > 1:
        pick["bytes"] = np.arange(rows, dtype=np.int64) % len(origins["bytes"])
    source = Source(
        path=builder.path,
        reader=READER,
        tool="nsys",
        report=builder.report.name,
        version=builder.block.version,
        rows=rows,
        columns=origins,
        pick=pick,
        reasons=builder.reasons,
        available=frozenset(heading.text for heading in builder.block.headings),
    )
    return Table(source, builder.columns, tuple(builder.devices))
