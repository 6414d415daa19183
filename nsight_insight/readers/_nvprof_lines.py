"""Lines of nvprof's tables: what a heading announces, and how rows fall into cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from nsight_insight.readers._nvprof_values import EMPTY, TIMES, UNITS, quantity

Form = Literal["trace", "summary", "metrics", "unified"]

_GAP: Final = re.compile(r"\s{2,}")
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


def heading_form(line: str) -> tuple[Form, list[str], bool] | None:
    """What the heading line of a table announces: form, headings, and whether commas separate them."""
    comma = line.count(",") > 1 and not line.startswith(" ")
    texts = csv_cells(line) if comma else _GAP.split(line.strip())
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


def split_cells(line: str, count: int) -> list[tuple[str, int]]:
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


def csv_cells(line: str) -> list[str] | None:
    """The cells of a record, None when it is not well-formed CSV."""
    try:
        return next(csv.reader([line], strict=True), None)
    except csv.Error:
        return None


def fitted(cells: list[str], part: Part) -> list[str] | None:
    """Cells of a record; old versions do not quote the commas of a name, which are then counted out from both ends."""
    extra = len(cells) - len(part.headings)
    place = part.place(_NAME, "Kernel")
    if extra <= 0 or place is None:
        return cells if extra == 0 else None
    return [*cells[:place], ",".join(cells[place : place + extra + 1]), *cells[place + extra + 1 :]]


def is_units(cells: Sequence[str]) -> bool:
    """True for the row below the headings that names the units of the columns."""
    return any(cell for cell in cells) and all(cell in UNITS for cell in cells)


def is_row(part: Part, cells: Sequence[str]) -> bool:
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


def begins_like_row(line: str) -> bool:
    """True for a line that begins with a time or a percentage."""
    first = line.replace(",", " ").split(None, 1)[0]
    found = quantity(first)
    return found is not None and (found.unit in TIMES or found.unit == "%") and first not in EMPTY
