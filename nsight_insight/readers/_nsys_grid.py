"""A table of nsys as cells of text, whatever it was printed as, and the way from there to a ``Block``.

The column, table and HTML forms follow the locale of the process that printed them, so the notation of numbers is
decided once per table; JSON and TSV hold plain numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal

from nsight_insight.catalog.nsys_reports import Heading, ReportFormat, fitting_reports, heading_keys, parse_heading
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.numbers import AmbiguousNumbers, Style, decide_style, plain_numbers
from nsight_insight.model.units import TIME, parse_unit
from nsight_insight.readers._nsys_scan import MAX_HEADINGS, Block

Figure = Literal["whole", "real"]

_MEANS: Final = re.compile(r".*(?:avg|med|stddev)")
_THREE_DECIMALS: Final = re.compile(r".*[.,][0-9]{3}")
_ONE_GROUP: Final = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_NUMBER: Final = re.compile("[0-9][0-9.,'\u2019 \u00a0\u2009\u202f\ufffd]*")
_IN_EVERY_ROW: Final = frozenset({"start", "duration", "count", "bytes", "avg", "total time", "total"})
_ENOUGH: Final = 5000
"""Number cells of a column that are looked at for the notation; those with digits alone do not count."""
_KNOWN: Final = 3
"""Headings of nsys reports that a line must have to be the heading of a report we do not know."""


@dataclass
class Grid:
    """One table.

    Attributes:
        reader: the reader that stands for the form.
        line: line of the heading.
        rows: cells, as many per row as there are headings.
        numbers: line of each row.
        bad: first and last line of each run of lines that are no row.
        banner: report name that stood before the table, "" when none.
        plain: the numbers are in C notation, whatever the locale.
        columns: character column of each heading where the cells stand below each other.
        spread: every cell has a line of its own below that of its row.
    """

    reader: str
    line: int
    headings: tuple[Heading, ...]
    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    bad: list[tuple[int, int]] = field(default_factory=list)
    banner: str = ""
    version: str = ""
    plain: bool = False
    columns: Sequence[int] = ()
    spread: bool = False

    def __post_init__(self) -> None:
        self.candidates: list[ReportFormat] = fitting_reports(self.headings)
        report = self.candidates[0] if self.candidates else None
        self.figures: dict[int, Figure] = dict(_figures(self.headings, report)) if report else {}
        self.key_figures = _key_figures(self.headings, report) if report else []

    def looks_like_row(self, cells: Sequence[str]) -> bool:
        """True when the cells that every row must have hold numbers."""
        return bool(self.key_figures) and all(_NUMBER.fullmatch(cells[place].strip()) for place in self.key_figures)

    def add(self, cells: list[str], number: int) -> None:
        """One more row."""
        self.rows.append(cells)
        self.numbers.append(number)

    def add_bad(self, number: int) -> None:
        """One more line that is no row."""
        if self.bad and self.bad[-1][1] == number - 1:
            self.bad[-1] = (self.bad[-1][0], number)
        else:
            self.bad.append((number, number))

    def style(self) -> Style:
        """The notation of the table's numbers.

        Raises:
            AmbiguousNumbers: nobody can know.
        """
        return Style.PLAIN if self.plain else decide_style(self._evidence())

    def _evidence(self) -> Iterator[str]:
        """Number cells, made longer where what the column holds settles what a single separator is."""
        for place, figure in self.figures.items():
            telling = (cell for row in self.rows if not (cell := row[place].strip()).isdigit())
            for cell in islice(telling, _ENOUGH):
                if figure == "real":
                    yield _with_more_decimals(cell)
                else:
                    yield f"{cell}.000" if _ONE_GROUP.fullmatch(cell) else cell

    def block(self, style: Style) -> Block:
        """The table as CSV records with numbers in C notation."""
        records = _Records()
        csv.writer(records, lineterminator="").writerows(zip(*self._columns(style), strict=True))
        return Block(
            self.line, self.headings, self.candidates, self.banner, self.version, records, self.numbers, self.bad,
            reader=self.reader, columns=self.columns, spread=self.spread,
        )  # fmt: skip

    def _columns(self, style: Style) -> Iterator[list[str]]:
        for place in range(len(self.headings)):
            cells = [row[place].strip() for row in self.rows]
            figure = self.figures.get(place)
            if figure is None:
                cells = [cell.replace("\r", " ").replace("\x00", "\ufffd") for cell in cells]
            elif style != Style.PLAIN:
                longer = [_with_more_decimals(cell) for cell in cells] if figure == "real" else cells
                cells = plain_numbers(longer, style)
            yield cells


class _Records(list[str]):
    """A list that a CSV writer can write to, one record at a time."""

    def write(self, record: str) -> None:
        """Takes one record."""
        self.append(record)


def headings_of(texts: Sequence[str]) -> tuple[Heading, ...]:
    """The headings some texts are, empty when they are none of nsys."""
    if len(texts) > MAX_HEADINGS:
        return ()
    headings = tuple(parse_heading(text.strip()) for text in texts)
    known = sum(heading.key in heading_keys() for heading in headings)
    return headings if known >= _KNOWN or fitting_reports(headings) else ()


def common_style(grids: Sequence[Grid]) -> Style | None:
    """The notation of all tables that show one, None when they differ or none does."""
    found = set()
    for grid in grids:
        try:
            found.add(grid.style())
        except AmbiguousNumbers:
            continue
    return found.pop() if len(found) == 1 else None


def _figures(headings: Sequence[Heading], report: ReportFormat) -> Iterator[tuple[int, Figure]]:
    """Numeric columns, and whether nsys prints decimals in them."""
    targets = {place: report.columns.get(key, "") for key, place in report.places(headings).items()}
    sizes = "total" in report.key
    for place, heading in enumerate(headings):
        column = ACTIVITY_COLUMNS.get(targets.get(place, ""))
        if heading.unit or (column is not None and column.dtype != "object") or _MEANS.fullmatch(heading.key):
            yield place, _figure(heading, sizes=sizes)


def _key_figures(headings: Sequence[Heading], report: ReportFormat) -> list[int]:
    """Columns in which every row has a number."""
    places = report.places(headings)
    return [places[key] for key in report.key if report.columns.get(key, key) in _IN_EVERY_ROW]


def _figure(heading: Heading, *, sizes: bool) -> Figure:
    if _MEANS.fullmatch(heading.key) or (sizes and heading.key in ("total", "min", "max")):
        return "real"
    unit = parse_unit(heading.unit)
    nanoseconds = unit is not None and unit.dimension == TIME and unit.scale <= 1e-9
    return "whole" if not heading.unit or nanoseconds else "real"


def _with_more_decimals(cell: str) -> str:
    """``4.194`` as ``4.1940``: three digits behind the only separator are no group then."""
    return f"{cell}0" if _THREE_DECIMALS.fullmatch(cell) else cell
