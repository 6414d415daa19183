"""Tables of nvprof with times to activity rows: traces, summaries, unified memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ColumnOrigin, Device, Source, Table
from nsight_insight.readers._coarse_starts import coarse_starts
from nsight_insight.readers._nsys_columns import mapped
from nsight_insight.readers._nsys_memory import MIGRATION_NAMES, copy_direction, memory_kind, memory_place
from nsight_insight.readers._nvprof_scan import Part
from nsight_insight.readers._nvprof_values import EMPTY, quantity, whole

READER: Final = "nvprof"
_TRIPLE: Final = re.compile(r"\((\d+) (\d+) (\d+)\)")
DEVICE: Final = re.compile(r"(.*?)\s*\((\d{1,6})\)")
_CORRELATION: Final = re.compile(r"(.*) \[(\d{1,15})\]", re.DOTALL)
_UNIFIED: Final = re.compile(r"\[Unified Memory Memcpy (HtoD|DtoH|DtoD)\]")
_GROUPS: Final = {"GPU activities": "", "API calls": Kind.API.value, "Range": Kind.RANGE.value, "": ""}
"""Type of a summary's row -> kind, "" where the name tells."""
_MIGRATIONS: Final = {
    "Host To Device": MIGRATION_NAMES["htod"],
    "Device To Host": MIGRATION_NAMES["dtoh"],
    "Device To Device": "[CUDA memcpy Unified Device-to-Device]",
}
_NUMBERS: Final = {
    "start": ("Start",), "duration": ("Duration", "Time", "Total Time"), "avg": ("Avg",), "min": ("Min",),
    "max": ("Max",), "count": ("Calls", "Count"), "grid_x": ("Grid X",), "grid_y": ("Grid Y",),
    "grid_z": ("Grid Z",), "block_x": ("Block X",), "block_y": ("Block Y",), "block_z": ("Block Z",),
    "registers": ("Regs*", "Registers Per Thread"), "shared_static": ("SSMem*", "Static SMem"),
    "shared_dynamic": ("DSMem*", "Dynamic SMem"), "bytes": ("Size", "Total Size"), "context": ("Context",),
    "stream": ("Stream",), "correlation": ("Correlation_ID",),
}  # fmt: skip
"""Activity column -> headings of the text and the CSV form."""
_TEXTS: Final = {"src_kind": "SrcMemType", "dst_kind": "DstMemType"}
_WHOLE: Final = frozenset({"count", "context", "stream", "correlation"})


@dataclass
class Rows:
    """Columns under construction."""

    part: Part
    path: str
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    origins: dict[str, tuple[ColumnOrigin, ...]] = field(default_factory=dict)
    reasons: dict[str, npt.NDArray[np.uint8]] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.part.rows)

    def cells(self, place: int) -> list[str]:
        """The cells under a heading."""
        return [row[place] for row in self.part.rows]

    def origin(self, place: int) -> tuple[ColumnOrigin, ...]:
        """Where a column stands."""
        heading, unit = self.part.headings[place], self.part.units[place]
        if self.part.comma:
            return (ColumnOrigin(heading, place + 1, unit),)
        columns = np.array([row[place] for row in self.part.columns], dtype=np.int64)
        return (ColumnOrigin(heading, None, unit, columns=columns),)

    def place(self, row: int, place: int) -> Location:
        """One cell."""
        part = self.part
        return Location(self.path, part.numbers[row], part.columns[row][place], part.headings[place])


def timed_table(part: Part, path: str) -> tuple[Table, list[Issue]]:
    """The table of a trace, a summary or a unified memory section, and what was lost on the way."""
    rows = Rows(part, path)
    _add_numbers(rows)
    _add_texts(rows)
    _add_triples(rows)
    _name_rows(rows)
    _add_devices(rows)
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


def report_name(part: Part) -> str:
    """What the reports of nvprof are called here; it gives them no names of their own."""
    if part.form == "trace":
        gpu = part.place("Grid Size", "Grid X", "Context", "Device")
        return "nvprof-api-trace" if gpu is None else "nvprof-gpu-trace"
    if part.nvtx:
        return "nvprof-nvtx"
    return {"summary": "nvprof-summary", "metrics": "nvprof-metrics", "unified": "nvprof-unified-memory"}[part.form]


def _add_numbers(rows: Rows) -> None:
    for column, headings in _NUMBERS.items():
        place = rows.part.place(*headings)
        if place is None or (rows.part.form == "unified" and column in ("avg", "min", "max")):
            continue
        values = np.full(len(rows), np.nan)
        codes = np.zeros(len(rows), dtype=np.uint8)
        for row, cell in enumerate(rows.cells(place)):
            found = quantity(cell, rows.part.units[place])
            if found is not None and (column not in _WHOLE or whole(found.value)):
                values[row] = found.value
            else:
                codes[row] = Missing.EMPTY if cell.strip() in EMPTY else Missing.UNPARSABLE
        if column in _WHOLE:
            values = np.where(np.isnan(values), -1, values).astype(np.int64)
        rows.columns[column] = np.rint(values) if column == "bytes" else values
        rows.origins[column] = rows.origin(place)
        _note_gaps(rows, column, codes, place)


def _note_gaps(rows: Rows, column: str, codes: npt.NDArray[np.uint8], place: int) -> None:
    if not codes.any():
        return
    rows.reasons[column] = codes
    wrong = np.flatnonzero(codes == Missing.UNPARSABLE)
    if len(wrong):
        cells = "a cell" if len(wrong) == 1 else f"{len(wrong)} cells"
        where = rows.place(int(wrong[0]), place)
        rows.issues.append(Issue(Level.DATA_LOSS, f"{report_name(rows.part)}: {cells} left out, not a number", where))


def _add_texts(rows: Rows) -> None:
    for column, heading in _TEXTS.items():
        place = rows.part.place(heading)
        if place is not None:
            rows.columns[column] = mapped(rows.cells(place), memory_place)
            rows.origins[column] = rows.origin(place)


def _add_triples(rows: Rows) -> None:
    """``(32768 1 1)`` of the text form."""
    for column, heading in (("grid", "Grid Size"), ("block", "Block Size")):
        place = rows.part.place(heading)
        if place is None:
            continue
        figures = np.full((len(rows), 3), np.nan)
        for row, cell in enumerate(rows.cells(place)):
            if found := _TRIPLE.fullmatch(cell.strip()):
                figures[row] = [float(figure) for figure in found.groups()]
        codes = np.where(np.isnan(figures[:, 0]), Missing.EMPTY, 0).astype(np.uint8)
        for index, axis in enumerate("xyz"):
            rows.columns[f"{column}_{axis}"] = figures[:, index]
            rows.origins[f"{column}_{axis}"] = rows.origin(place)
            rows.reasons.update({f"{column}_{axis}": codes} if codes.any() else {})


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


def _add_devices(rows: Rows) -> None:
    """``TITAN Xp (0)``; in the text form the column may cut the name, the index with it."""
    place = rows.part.place("Device")
    if rows.part.form == "unified" and place is None:
        texts = [device for device, _ in rows.part.groups]
    elif place is not None and rows.part.form in ("trace", "unified"):
        texts = rows.cells(place)
        rows.origins["device"] = rows.origin(place)
    else:
        return
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        if text in seen or text.strip() in EMPTY:
            continue
        found = DEVICE.fullmatch(text)
        seen[text] = int(found[2]) if found else -1
        where = Location(rows.path, rows.part.numbers[row]) if place is None else rows.place(row, place)
        rows.devices.append(Device(seen[text], found[1] if found else text, location=where))
    rows.columns["device"] = np.array([seen.get(text, -1) for text in texts], dtype=np.int64)


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
