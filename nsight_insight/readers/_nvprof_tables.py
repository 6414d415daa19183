"""Tables of nvprof with times to activity rows: traces, summaries, unified memory."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ColumnOrigin, Source, Table
from nsight_insight.readers._coarse_starts import coarse_starts
from nsight_insight.readers._nsys_columns import mapped
from nsight_insight.readers._nsys_memory import MIGRATION_NAMES, copy_direction, memory_kind
from nsight_insight.readers._nvprof_lines import Part
from nsight_insight.readers._nvprof_rows import Rows, read_rows, report_name
from nsight_insight.readers._nvprof_values import quantity

READER: Final = "nvprof"
_CORRELATION: Final = re.compile(r"(.*) \[(\d{1,15})\]", re.DOTALL)
_UNIFIED: Final = re.compile(r"\[Unified Memory Memcpy (HtoD|DtoH|DtoD)\]")
_GROUPS: Final = {"GPU activities": "", "API calls": Kind.API.value, "Range": Kind.RANGE.value, "": ""}
"""Type of a summary's row -> kind, "" where the name tells."""
_MIGRATIONS: Final = {
    "Host To Device": MIGRATION_NAMES["htod"],
    "Device To Host": MIGRATION_NAMES["dtoh"],
    "Device To Device": "[CUDA memcpy Unified Device-to-Device]",
}


def timed_table(part: Part, path: str) -> tuple[Table, list[Issue]]:
    """The table of a trace, a summary or a unified memory section, and what was lost on the way."""
    rows = read_rows(part, path)
    _name_rows(rows)
    keep = _add_kinds(rows)
    _check_starts(rows)
    return _table(rows, keep), [*rows.issues, *bad_line_issues(part, path)]


def bad_line_issues(part: Part, path: str) -> list[Issue]:
    """Lines of a table that are no rows."""
    if not part.bad:
        return []
    lines = "a line" if len(part.bad) == 1 else f"{len(part.bad)} lines"
    text = f"{report_name(part)}: {lines} skipped, not a row of {len(part.headings)} cells"
    return [Issue(Level.DATA_LOSS, text, Location(path, part.bad[0]))]


def _name_rows(rows: Rows) -> None:
    """Names; the text form of a trace has the correlation id in brackets behind a kernel's."""
    place = rows.part.headings.index("Name")
    names = rows.cells(place)
    rows.origins["name"] = rows.origin(place)
    if rows.part.form == "unified":
        names = [_MIGRATIONS.get(name, name) for name in names]
    elif rows.part.form == "trace" and not rows.part.comma:
        found = [_CORRELATION.fullmatch(name) for name in names]
        names = [match[1] if match else name for match, name in zip(found, names, strict=True)]
        rows.columns["correlation"] = np.array([int(match[2]) if match else -1 for match in found], dtype=np.int64)
        rows.origins["correlation"] = rows.origin(place)
    rows.columns["name"] = mapped(names, _migration)


def _migration(name: str) -> str:
    found = _UNIFIED.fullmatch(name)
    ways = {"HtoD": "Host To Device", "DtoH": "Device To Host", "DtoD": "Device To Device"}
    return _MIGRATIONS[ways[found[1]]] if found else name


def _add_kinds(rows: Rows) -> npt.NDArray[np.bool_]:
    """Kinds, and which rows are activities we know."""
    names, form = rows.columns["name"], rows.part.form
    count = np.ones(len(rows), dtype=np.int64)
    rows.columns.setdefault("count", count)
    if form == "summary":
        kinds = mapped([group for _, group in rows.part.groups], lambda group: _GROUPS.get(group, "?"))
        kinds = np.where(kinds == "", mapped(names, _gpu_kind), kinds)
    elif report_name(rows.part) == "nvprof-api-trace":
        kinds = np.full(len(rows), Kind.API.value, dtype=object)
    else:
        kinds = mapped(names, _gpu_kind if form == "trace" else memory_kind)
    rows.columns["kind"] = kinds
    if (kinds == Kind.MEMCPY.value).any():
        rows.columns["direction"] = mapped(names, copy_direction)
        rows.origins["direction"] = rows.origins["name"]
    keep: npt.NDArray[np.bool_] = ~np.isin(kinds, ("", "?"))
    _note_others(rows, np.flatnonzero(~keep))
    return keep


def _gpu_kind(name: str) -> str:
    if name.startswith("["):
        return memory_kind(name)  # "" for [Unified Memory GPU page faults] and the like
    return Kind.KERNEL.value


def _note_others(rows: Rows, others: npt.NDArray[np.intp]) -> None:
    if not len(others):
        return
    part = rows.part
    kinds = {part.groups[row][1] if part.form == "summary" else str(rows.columns["name"][row]) for row in others}
    text = f"{report_name(part)}: {len(others)} rows that are not analysed: {', '.join(sorted(kinds))}"
    rows.issues.append(Issue(Level.INFO, text, Location(rows.path, part.numbers[int(others[0])])))


def _check_starts(rows: Rows) -> None:
    """Five significant digits are ten microseconds after a tenth of a second: too coarse for short kernels."""
    place = rows.part.place("Start")
    if place is None or report_name(rows.part) != "nvprof-gpu-trace":
        return
    found = [quantity(cell, rows.part.units[place]) for cell in rows.cells(place)]
    steps = np.array([item.step if item else np.nan for item in found])
    reason = coarse_starts(rows.columns, steps)
    if reason:
        del rows.columns["start"], rows.origins["start"]
        text = f"{report_name(rows.part)}: starts left out, {reason}; --csv --normalized-time-unit ns prints them whole"
        rows.issues.append(Issue(Level.DATA_LOSS, text, Location(rows.path, rows.part.line, field="Start")))


def _kept(origin: ColumnOrigin, keep: npt.NDArray[np.bool_]) -> ColumnOrigin:
    return origin if origin.columns is None else replace(origin, columns=origin.columns[keep])


def _table(rows: Rows, keep: npt.NDArray[np.bool_]) -> Table:
    columns = {name: values[keep] for name, values in rows.columns.items()}
    columns["line"] = np.array(rows.part.numbers, dtype=np.int64)[keep]
    columns["process"] = np.full(int(keep.sum()), rows.part.process, dtype=np.int64)
    if rows.part.nvtx:
        columns["nvtx"] = np.where(columns["kind"] == Kind.RANGE.value, "", rows.part.nvtx).astype(object)
    source = Source(
        path=rows.path,
        reader=READER,
        tool="nvprof",
        report=report_name(rows.part),
        rows=int(keep.sum()),
        columns={name: tuple(_kept(origin, keep) for origin in found) for name, found in rows.origins.items()},
        reasons={name: codes[keep] for name, codes in rows.reasons.items()},
        available=frozenset(rows.part.headings),
        incomplete=bool(rows.part.bad),
    )
    return Table(source, columns, tuple(rows.devices))
