"""Tables exported from the Nsight Compute GUI: the raw page and the summary page, as shown or transposed.

Labels carry their unit, ``gpu__time_duration.sum [us]``; values are those on the screen, rounded to two decimals and in
the user's own notation, with the number of instances behind them. The files begin with a byte order mark.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Final

from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._ncu_banners import SHOWN
from nsight_insight.readers._ncu_gui_page import DEMANGLED, FUNCTION, MARKS, Field, GuiCell, page_of
from nsight_insight.readers._ncu_table import build_table
from nsight_insight.readers.text import SourceText

NAME: Final = "ncu_gui"
_CERTAIN: Final = 0.9
_PROBED: Final = 60
_DELIMITERS: Final = (",", "\t", ";")
_NAMES: Final = frozenset({FUNCTION, DEMANGLED})

_Row = tuple[int, list[str]]


def sniff(text: SourceText) -> float:
    """0.9 where the first lines hold the GUI's labels, in a row or below each other."""
    return _CERTAIN if _layout(text.head[:_PROBED]) else 0.0


def read(text: SourceText) -> ReadResult:
    """Every launch of an export.

    Raises:
        UnrecognizedInput: no such table, or numbers that can be read in two ways.
        EmptyInput: a table without launches.
    """
    layout = _layout(text.head[:_PROBED])
    if layout is None:
        raise UnrecognizedInput(f"no table of the Nsight Compute GUI ({text.describe()})", path=text.path, line=1)
    delimiter, transposed = layout
    rows = list(_rows(text.lines, delimiter))
    start = 0 if transposed else next(place for place, (_, cells) in enumerate(rows) if _labels(cells))
    width = max(len(cells) for _, cells in rows) if transposed else len(rows[start][1])
    whole = [(number, cells) for number, cells in rows[start:] if len(cells) == width]
    damaged = [(number, cells) for number, cells in rows[start:] if len(cells) not in (width, 1)]
    fields = _columns(whole) if transposed else _rows_of(whole)
    if not fields or not fields[0].cells:
        raise EmptyInput("a heading without launches", path=text.path, line=rows[start][0])
    table, issues = build_table(page_of(fields, whole[0][0]), text.path, NAME)
    lost = [_lost(text.path, number, len(cells), width) for number, cells in damaged[:SHOWN]]
    return ReadResult([table], [*text.issues, *issues, *lost])


def _layout(head: Sequence[str]) -> tuple[str, bool] | None:
    """Delimiter, and whether launches stand in columns; None for other texts."""
    if not any(name in line for line in head for name in _NAMES):
        return None
    for delimiter in _DELIMITERS:
        rows = list(_rows(head, delimiter))
        if any(_labels(cells) for _, cells in rows):
            return delimiter, False
        if _labels([cells[0] for _, cells in rows if len(cells) > 1]):
            return delimiter, True
    return None


def _labels(cells: Sequence[str]) -> bool:
    """Whether cells are labels of the GUI's tables."""
    plain = {cell.partition(" [")[0].strip() for cell in cells}
    return bool(_NAMES & plain) and any(mark in plain for mark in MARKS)


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[_Row]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield number, next(csv.reader((line,), delimiter=delimiter, strict=True))
            except (csv.Error, StopIteration):
                yield number, [line]


def _columns(rows: Sequence[_Row]) -> list[Field]:
    """Labels of a transposed table: the first cell of every row."""
    return [
        Field(cells[0].strip(), [GuiCell(cell, number, place) for place, cell in enumerate(cells[1:], 2)])
        for number, cells in rows
    ]


def _rows_of(rows: Sequence[_Row]) -> list[Field]:
    """Labels of a table as shown: the first row."""
    (_, headings), *launches = rows
    return [
        Field(heading.strip(), [GuiCell(cells[place], number, place + 1) for number, cells in launches])
        for place, heading in enumerate(headings)
    ]


def _lost(path: str, number: int, count: int, width: int) -> Issue:
    return Issue(Level.DATA_LOSS, f"row of {count} fields where {width} are expected: skipped", Location(path, number))
