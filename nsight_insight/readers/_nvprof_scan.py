"""Finds what nvprof prints in a text: traces, summaries, metrics, unified memory, and the lines around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.readers._ncu_layout import MARK, heading_of
from nsight_insight.readers._nvprof_lines import (
    Form,
    Part,
    begins_like_row,
    csv_cells,
    fitted,
    heading_form,
    is_row,
    is_units,
    split_cells,
)

BANNER: Final = re.compile(r"==+(\d{0,10})==+ (.*)")
_PROFILING: Final = re.compile(r"NVPROF is profiling process (\d{1,10})\b")
_NOTHING: Final = re.compile(r"No (?:kernels|API activities|events/metrics) were profiled\.")
_DEVICE: Final = re.compile(r'\s*Device "(.*)"\s*')
_KERNEL: Final = re.compile(r"\s*Kernel: (.+)")
_RANGE: Final = re.compile(r'Range "(.*)"')
_RESULT: Final = re.compile(r"(?:Profiling|Metric|Event|Unified Memory profiling) result:")
_TOTAL: Final = re.compile(r"\s*Total (?:CPU|GPU) [A-Za-z ]+: \d+\s*")
_GROUP: Final = re.compile(r"\s*([A-Z][A-Za-z ()]*?):\s+(?=\d)")


@dataclass
class Note:
    """A line of nvprof that is no data: ``warning``, ``error``, ``nothing`` or ``total``."""

    kind: str
    line: int
    text: str


@dataclass
class Scan:
    """Everything found in one text."""

    parts: list[Part] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def scan(lines: Sequence[str]) -> Scan:
    """All tables and remarks of nvprof."""
    scanner = _Scanner()
    for index, line in enumerate(lines):
        scanner.step(line.rstrip("\r").rpartition("\r")[2].replace("\x00", "\ufffd"), index + 1)
    return scanner.found


class _Scanner:
    """State machine over lines."""

    def __init__(self) -> None:
        self.found = Scan()
        self.part: Part | None = None
        self.process = -1
        self.group = self.device = self.kernel = self.nvtx = ""
        self.closed = False

    def step(self, line: str, number: int) -> None:
        if not line.strip():
            self.closed = True
        elif banner := BANNER.match(line):
            self.take_banner(banner[1], banner[2].strip(), number)
        elif heading := heading_form(line):
            self.open(*heading, number)
        elif MARK in line and heading_of(line, number):
            self.part = None  # a table of ncu, whose rows may look like those of the table before
        elif not self.take_note(line, number) and self.part is not None:
            self.take_row(self.part, line, number)

    def take_banner(self, process: str, text: str, number: int) -> None:
        if process:
            self.process = int(process)
        if found := _PROFILING.match(text):
            self.process = int(found[1])
        for kind in ("Warning", "Error"):
            if text.startswith(f"{kind}: "):
                self.found.notes.append(Note(kind.lower(), number, text))
                return
        if _RESULT.fullmatch(text) or "NVPROF is profiling" in text:
            self.part, self.group, self.nvtx = None, "", ""
        elif text == "API calls:":
            self.part, self.group = None, "API calls"
        elif found := _RANGE.fullmatch(text):
            self.part, self.nvtx = None, found[1]

    def take_note(self, line: str, number: int) -> bool:
        if _NOTHING.match(line.strip()):
            self.found.notes.append(Note("nothing", number, line.strip()))
            return True
        if _TOTAL.fullmatch(line):
            self.found.notes.append(Note("total", number, line.strip()))
            return True
        if found := _DEVICE.fullmatch(line):
            self.device, self.kernel = found[1], ""
            return True
        if found := _KERNEL.fullmatch(line):
            self.kernel = found[1]
            return True
        return False

    def open(self, form: Form, headings: list[str], comma: bool, number: int) -> None:
        self.part = Part(form, number, headings, [""] * len(headings), comma, self.process, self.nvtx)
        self.closed = False
        self.found.parts.append(self.part)

    def take_row(self, part: Part, line: str, number: int) -> None:
        found = self.cells(part, line)
        cells = [cell for cell, _ in found or ()]
        if found and part.comma and not part.rows and is_units(cells):
            part.units = cells
        elif found and is_row(part, cells):
            self.closed = False
            part.rows.append(cells)
            part.numbers.append(number)
            part.columns.append([column for _, column in found])
            part.groups.append(self.group_of(part, cells))
            self.group = part.groups[-1][1] if part.form == "summary" else self.group
        elif not self.closed and begins_like_row(line):
            part.bad.append(number)
        else:
            self.closed = True

    def cells(self, part: Part, line: str) -> list[tuple[str, int]] | None:
        """Cells and where they stand; None for a line with fewer of them."""
        count = len(part.headings)
        if part.comma:
            fields = fitted(csv_cells(line) or [], part)
            return [(cell, place) for place, cell in enumerate(fields, 1)] if fields else None
        group: list[tuple[str, int]] = []
        if part.form == "summary" and "Type" in part.headings:
            found = _GROUP.match(line)
            group = [(found[1] if found else self.group, 1)]
            line = " " * found.end() + line[found.end() :] if found else line
        cells = [*group, *split_cells(line, count - len(group))]
        return cells if len(cells) == count else None

    def group_of(self, part: Part, cells: list[str]) -> tuple[str, str]:
        if part.form == "summary":
            place = part.place("Type")
            return ("", self.group) if place is None else ("", cells[place])
        device, kernel = part.place("Device"), part.place("Kernel")
        if part.form == "trace":
            return "", ""
        return (
            self.device if device is None else cells[device],
            self.kernel if kernel is None else cells[kernel],
        )
