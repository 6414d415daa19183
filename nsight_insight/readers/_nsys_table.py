"""One nsys table as text to one ``Table``: which report it is, and the columns that follow from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from nsight_insight.catalog.nsys_reports import ReportFormat, choose_report
from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ColumnOrigin, Ints, Source, Table
from nsight_insight.model.units import parse_unit
from nsight_insight.readers._coarse_starts import coarse_starts
from nsight_insight.readers._nsys_cells import Objects
from nsight_insight.readers._nsys_columns import Builder, mapped, read_columns
from nsight_insight.readers._nsys_memory import MIGRATION_NAMES, copy_direction, memory_kind, true_bytes
from nsight_insight.readers._nsys_scan import Block, fields

_SAMPLE: Final = 1000
_NANOSECOND: Final = 1e-9
_UNIT_STEP: Final = 1e-4
_SECONDS_STEP: Final = 1e-6
"""Last printed digit of a start: nsys prints four decimals with --timeunit, and printed six under ``Start(sec)``."""
_CATEGORIES: Final = {"CUDA_KERNEL": Kind.KERNEL.value, "CUDA_API": Kind.API.value, "CUDA_GRAPH": Kind.GRAPH.value}


def report_of(block: Block) -> ReportFormat:
    """The report a block is: by its headings, then its cells, then the banner before it."""

    def cells_under(report: ReportFormat, heading: str) -> Sequence[str]:
        position = report.places(block.headings)[heading]
        return [(fields(record) or [])[position] for record in block.records[:_SAMPLE]]

    if len(block.candidates) == 1:
        return block.candidates[0]
    return choose_report(block.candidates, block.banner, cells_under)


def build_table(block: Block, report: ReportFormat, path: str, *, large: bool) -> tuple[Table, list[Issue]]:
    """The table of a block whose report is known, and what was lost on the way."""
    builder = read_columns(block, report, path, large=large)
    builder.issues += _bad_line_issues(block, report, path)
    _complete(builder)
    return _table(builder), builder.issues


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


def _complete(builder: Builder) -> None:
    """Columns that follow from others: kinds, directions, counts, sizes, totals."""
    columns, report = builder.columns, builder.report
    if "throughput" in columns:
        _refine_bytes(builder)
    _check_starts(builder)
    if "duration" not in columns and {"avg", "count"} <= columns.keys():
        columns["duration"] = np.rint(columns["avg"] * columns["count"])
    if "style" in columns or report.fixed:
        columns["_style"] = columns.pop("style", _filled(len(builder.rows), report.fixed.get("style", "")))
        builder.origins.pop("style", None)
    if report.kind == "migration":
        _split_migrations(builder)
    if "count" not in columns:
        columns["count"] = np.ones(len(builder.rows), dtype=np.int64)
    _add_kind(builder)


def _refine_bytes(builder: Builder) -> None:
    throughput = builder.columns.pop("throughput")
    del builder.origins["throughput"]
    builder.reasons.pop("throughput", None)
    exact = builder.origins["duration"][0].unit in ("", "ns")
    rounded = "bytes" in builder.columns and builder.origins["bytes"][0].unit
    if exact and rounded:
        builder.columns["bytes"] = true_bytes(builder.columns["bytes"], throughput, builder.columns["duration"])


def _check_starts(builder: Builder) -> None:
    """Leaves starts out that are printed too coarsely to tell what ran when."""
    columns = builder.columns
    timeline = builder.report.kind == "gpu" and "start" in columns
    unit = parse_unit(builder.origins["start"][0].unit) if timeline else None
    if unit is None or unit.scale <= _NANOSECOND:
        return
    step = unit.scale / _NANOSECOND * (_SECONDS_STEP if unit.name == "sec" else _UNIT_STEP)
    if reason := coarse_starts(columns, step):
        origin = builder.origins.pop("start")[0]
        del columns["start"]
        builder.reasons.pop("start", None)
        place = Location(builder.path, builder.block.line, origin.column, origin.field)
        text = f"{builder.report.name}: starts left out, {reason}"
        builder.issues.append(Issue(Level.DATA_LOSS, text, place))


def _filled(length: int, text: str) -> Objects:
    return np.full(length, text, dtype=object)


def _split_migrations(builder: Builder) -> None:
    """Two rows per line, one for each way that memory moved."""
    columns, ways, rows = builder.columns, tuple(MIGRATION_NAMES), len(builder.rows)
    columns["bytes"] = np.stack([columns.pop(way) for way in ways], axis=1).reshape(-1)
    columns["name"] = np.array([MIGRATION_NAMES[way] for way in ways] * rows, dtype=object)
    columns["count"] = np.full(rows * len(ways), -1, dtype=np.int64)
    builder.origins["bytes"] = tuple(builder.origins.pop(way)[0] for way in ways)
    builder.pick["bytes"] = np.tile(np.arange(len(ways)), rows)
    builder.reasons["bytes"] = np.where(np.isnan(columns["bytes"]), Missing.EMPTY, 0).astype(np.uint8)
    builder.rows = np.repeat(builder.rows, len(ways))
    for way in ways:
        builder.reasons.pop(way, None)


def _add_kind(builder: Builder) -> None:
    columns, kind = builder.columns, builder.report.kind
    names = columns["name"]
    operations = mapped(names, memory_kind)
    if kind in ("memory", "migration"):
        kinds = np.where(operations == Kind.MEMSET.value, Kind.MEMSET.value, Kind.MEMCPY.value).astype(object)
    elif kind == "gpu":
        kinds = np.where(operations == "", Kind.KERNEL.value, operations)
    elif kind == "category":
        kinds = _kinds_by_category(builder, columns.pop("category"), operations)
    else:
        kinds = _filled(len(names), kind)
    columns["kind"] = kinds
    _drop_unknown_kinds(builder)
    if (kinds == Kind.MEMCPY.value).any():
        builder.columns["direction"] = mapped(builder.columns["name"], copy_direction)
        builder.origins["direction"] = builder.origins.get("name", ())


def _kinds_by_category(builder: Builder, categories: Objects, operations: Objects) -> Objects:
    """Kinds by the Category column, "" where it is none of nsys' categories."""
    builder.origins["kind"] = builder.origins.pop("category")
    kinds = _filled(len(categories), "")
    for row, category in enumerate(categories):
        kinds[row] = _CATEGORIES.get(category) or (operations[row] if category == "MEMORY_OPER" else "")
    return kinds


def _drop_unknown_kinds(builder: Builder) -> None:
    keep = builder.columns["kind"] != ""
    unknown = np.flatnonzero(~keep)
    if len(unknown):
        text = f"{builder.report.name}: {len(unknown)} rows of an unknown category are not analysed"
        builder.issues.append(Issue(Level.DATA_LOSS, text, Location(builder.path, builder.line(int(unknown[0])))))
        builder.rows = builder.rows[keep]
        builder.columns = {name: values[keep] for name, values in builder.columns.items()}
        builder.reasons = {name: codes[keep] for name, codes in builder.reasons.items()}


def _own_line(origin: ColumnOrigin, lines: Ints) -> ColumnOrigin:
    """A column whose cells stand as many lines below their rows as the heading is from the first one, and one more."""
    return replace(origin, column=None, lines=lines + (origin.column or 0))


def _table(builder: Builder) -> Table:
    rows = len(builder.rows)
    builder.columns["line"] = np.array([builder.line(row) for row in range(rows)], dtype=np.int64)
    origins = {name: origins for name, origins in builder.origins.items() if origins}
    if builder.block.spread:
        lines = builder.columns["line"]
        origins = {name: tuple(_own_line(origin, lines) for origin in found) for name, found in origins.items()}
    source = Source(
        path=builder.path,
        reader=builder.block.reader,
        tool="nsys",
        report=builder.report.name,
        version=builder.block.version,
        rows=rows,
        columns=origins,
        pick=builder.pick,
        reasons=builder.reasons,
        available=frozenset(heading.text for heading in builder.block.headings),
        incomplete=bool(builder.block.bad) or len(np.unique(builder.rows)) < len(builder.block.records),
    )
    return Table(source, builder.columns, tuple(builder.devices))
