"""Cells of one table of nvprof to activity columns: numbers with units, triples, memory kinds, GPUs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ColumnOrigin, Device
from nsight_insight.readers._nsys_columns import mapped
from nsight_insight.readers._nsys_memory import memory_place
from nsight_insight.readers._nvprof_lines import Part
from nsight_insight.readers._nvprof_values import EMPTY, quantity, whole

DEVICE: Final = re.compile(r"(.*?)\s*\((\d{1,6})\)")
_TRIPLE: Final = re.compile(r"\((\d+) (\d+) (\d+)\)")
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


def read_rows(part: Part, path: str) -> Rows:
    """The columns that stand in the table as they are."""
    rows = Rows(part, path)
    _add_numbers(rows)
    _add_texts(rows)
    _add_triples(rows)
    _add_devices(rows)
    return rows


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
