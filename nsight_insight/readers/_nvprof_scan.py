"""Finds what nvprof prints in a text: traces, summaries, metrics, unified memory, and the lines around them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from nsight_insight.readers._nvprof_values import EMPTY, TIMES, UNITS, quantity

Form = Literal["trace", "summary", "metrics", "unified"]

BANNER: Final = re.compile(r"==+(\d{0,10})==+ (.*)")
_PROFILING: Final = re.compile(r"NVPROF is profiling process (\d{1,10})\b")
_NOTHING: Final = re.compile(r"No (?:kernels|API activities|events/metrics) were profiled\.")
_GAP: Final = re.compile(r"\s{2,}")
_DEVICE: Final = re.compile(r'\s*Device "(.*)"\s*')
_KERNEL: Final = re.compile(r"\s*Kernel: (.+)")
_RANGE: Final = re.compile(r'Range "(.*)"')
_RESULT: Final = re.compile(r"(?:Profiling|Metric|Event|Unified Memory profiling) result:")
_TOTAL: Final = re.compile(r"\s*Total (?:CPU|GPU) [A-Za-z ]+: \d+\s*")
_GROUP: Final = re.compile(r"\s*([A-Z][A-Za-z ()]*?):\s+(?=\d)")
_SUMMARY: Final = ("Time(%)", "Time", "Calls", "Avg", "Min", "Max", "Name")
_FEWEST: Final = 3
"""Start, Duration, Name: the headings of an API trace."""
_NAME: Final = "Name"


@dataclass
class Part:
    """One table of nvprof.

    Attributes:
        form: what it holds; an API trace is a trace without grid columns.
        units: unit of each column where a row below the headings names them, "" elsewhere.
        rows: cells, as many as there are headings.
        groups: per row the type of a summary (``GPU activities``), or ``device`` and ``kernel`` of a metric.
        columns: per row the place of each cell: field number in CSV, character column in text.
        bad: lines that are no row.
        process: process id, -1 unknown.
        nvtx: the NVTX range whose part of the work the table repeats, "" for a table of all work.
    """

    form: Form
    line: int
    headings: list[str]
    units: list[str]
    comma: bool
    process: int = -1
    nvtx: str = ""
    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    columns: list[list[int]] = field(default_factory=list)
    groups: list[tuple[str, str]] = field(default_factory=list)
    bad: list[int] = field(default_factory=list)

    def place(self, *names: str) -> int | None:
        """Position of the first of some headings that is there."""
        return next((self.headings.index(name) for name in names if name in self.headings), None)


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


def heading_form(line: str) -> tuple[Form, list[str], bool] | None:
    """What the heading line of a table announces: form, headings, and whether commas separate them."""
    comma = line.count(",") > 1 and not line.startswith(" ")
    texts = _csv(line) if comma else _GAP.split(line.strip())
    if texts is None or len(texts) < _FEWEST:
        return None
    if texts[:2] == ["Start", "Duration"] and _NAME in texts:
        return "trace", texts, comma
    if set(_SUMMARY) <= set(texts):
        return "summary", texts, comma
    if "Invocations" in texts and ("Metric Name" in texts or "Event Name" in texts):
        return "metrics", texts, comma
    if {"Count", "Avg Size", "Total Size", "Total Time", "Name"} <= set(texts):
        return "unified", texts, comma
    return None


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
        if found and part.comma and not part.rows and _is_units(cells):
            part.units = cells
        elif found and _is_row(part, cells):
            self.closed = False
            part.rows.append(cells)
            part.numbers.append(number)
            part.columns.append([column for _, column in found])
            part.groups.append(self.group_of(part, cells))
            self.group = part.groups[-1][1] if part.form == "summary" else self.group
        elif not self.closed and _begins_like_row(line):
            part.bad.append(number)
        else:
            self.closed = True

    def cells(self, part: Part, line: str) -> list[tuple[str, int]] | None:
        """Cells and where they stand; None for a line with fewer of them."""
        count = len(part.headings)
        if part.comma:
            fields = _fitted(_csv(line) or [], part)
            return [(cell, place) for place, cell in enumerate(fields, 1)] if fields else None
        group: list[tuple[str, int]] = []
        if part.form == "summary" and "Type" in part.headings:
            found = _GROUP.match(line)
            group = [(found[1] if found else self.group, 1)]
            line = " " * found.end() + line[found.end() :] if found else line
        cells = [*group, *_split(line, count - len(group))]
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


def _split(line: str, count: int) -> list[tuple[str, int]]:
    """At most ``count`` cells between two blanks or more, with their character columns."""
    cells: list[tuple[str, int]] = []
    line = line.rstrip()
    at = len(line) - len(line.lstrip())
    for gap in _GAP.finditer(line, at):
        if len(cells) == count - 1:
            break
        cells.append((line[at : gap.start()], at + 1))
        at = gap.end()
    return [*cells, (line[at:], at + 1)]


def _csv(line: str) -> list[str] | None:
    try:
        return next(csv.reader([line], strict=True), None)
    except csv.Error:
        return None


def _fitted(cells: list[str], part: Part) -> list[str] | None:
    """Cells of a record; old versions do not quote the commas of a name, which are then counted out from both ends."""
    extra = len(cells) - len(part.headings)
    place = part.place(_NAME, "Kernel")
    if extra <= 0 or place is None:
        return cells if extra == 0 else None
    return [*cells[:place], ",".join(cells[place : place + extra + 1]), *cells[place + extra + 1 :]]


def _is_units(cells: Sequence[str]) -> bool:
    return any(cell for cell in cells) and all(cell in UNITS for cell in cells)


def _is_row(part: Part, cells: Sequence[str]) -> bool:
    """True when the cells that every row must have hold numbers."""
    needed = {
        "trace": ("Start", "Duration"),
        "summary": ("Time", "Calls"),
        "metrics": ("Invocations",),
        "unified": ("Count",),
    }[part.form]
    for name in needed:
        place = part.headings.index(name)
        found = quantity(cells[place], part.units[place])
        timed = name in ("Start", "Duration", "Time")
        if found is None or timed != (found.unit in TIMES):
            return False
    return True


def _begins_like_row(line: str) -> bool:
    first = line.replace(",", " ").split(None, 1)[0]
    found = quantity(first)
    return found is not None and (found.unit in TIMES or found.unit == "%") and first not in EMPTY
