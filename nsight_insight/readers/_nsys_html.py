"""Finds what ``nsys stats --format hdoc`` and ``htable`` print: HTML tables with the headings of a report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

from nsight_insight.readers._nsys_grid import Grid, headings_of
from nsight_insight.readers._nsys_json import Found

MAYBE: Final = re.compile(r"<table\b", re.IGNORECASE)
"""Something to look for is in a text that holds this."""
_ROWS_END: Final = frozenset({"tr", "thead", "tbody", "tfoot", "table"})


@dataclass
class _HtmlTable:
    """One table as written; rows with the line they begin in, counted from 0."""

    first: int
    last: int = 0
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def html_grids(text: str, reader: str) -> Iterator[Found]:
    """Every table with nsys' headings; one that was cut off gives what stands before the cut."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    for table in parser.finished():
        grid = _grid(table, reader)
        if grid is not None:
            yield Found(grid, table.first, table.last)


def _grid(table: _HtmlTable, reader: str) -> Grid | None:
    """The first row that holds a report's headings opens the table."""
    for place, (line, cells) in enumerate(table.rows):
        headings = headings_of(cells)
        if headings:
            grid = Grid(reader, line + 1, headings)
            for number, row in table.rows[place + 1 :]:
                if len(row) == len(headings):
                    grid.add(row, number + 1)
                elif any(row):
                    grid.add_bad(number + 1)
            return grid
    return None


class _Parser(HTMLParser):
    """Collects the cells of tables; a table inside a cell is a table of its own."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[_HtmlTable] = []
        self.open: list[_HtmlTable] = []
        self.cell: list[str] | None = None

    def finished(self) -> list[_HtmlTable]:
        """All tables; those never closed reach to the end of the text."""
        self.end_cell()
        for table in self.open:
            table.last = self.getpos()[0] - 1
        return self.tables

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.end_cell()
            self.open.append(_HtmlTable(self.getpos()[0] - 1))
            self.tables.append(self.open[-1])
        elif tag == "tr" and self.open:
            self.end_cell()
            self.open[-1].rows.append((self.getpos()[0] - 1, []))
        elif tag in ("td", "th") and self.open:
            self.end_cell()
            self.cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") or tag in _ROWS_END:
            self.end_cell()
        if tag == "table" and self.open:
            self.open.pop().last = self.getpos()[0] - 1

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)

    def end_cell(self) -> None:
        """Puts the cell that is being read into its row."""
        if self.cell is not None and self.open:
            if not self.open[-1].rows:
                self.open[-1].rows.append((self.getpos()[0] - 1, []))
            self.open[-1].rows[-1][1].append(" ".join("".join(self.cell).split()))
        self.cell = None
