"""Finds what ``nsys stats --format json`` prints: an array of objects whose keys are the headings of a report."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from nsight_insight.readers._nsys_grid import Grid, headings_of

MAYBE: Final = re.compile(r'^[ \t]*"[^"\n]{1,40}"[ \t]*:|\{[ \t]*"', re.MULTILINE)
"""Something to look for is in a text that holds this."""
_START: Final = re.compile(r"^[ \t]*\[(?=\s*\{)", re.MULTILINE)
_SPACE: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
"""Numbers stay as they are written."""


@dataclass(frozen=True)
class Found:
    """A table and its first and last line, counted from 0."""

    grid: Grid
    first: int
    last: int


def json_grids(text: str, reader: str) -> Iterator[Found]:
    """Every array of objects with nsys' headings; one that was cut off gives what stands before the cut."""
    ends = [found.end() for found in re.finditer("\n", text)]
    done = 0
    for start in _START.finditer(text):
        if start.start() < done:
            continue
        grid, done = _grid(text, start.end(), ends, reader)
        if grid is not None:
            yield Found(grid, bisect_right(ends, start.start()), bisect_right(ends, done - 1))


def _grid(text: str, at: int, ends: list[int], reader: str) -> tuple[Grid | None, int]:
    """The table of the array whose first object begins at ``at``, and where it ends."""
    grid: Grid | None = None
    while True:
        at = _skip(text, at)
        number = bisect_right(ends, at) + 1
        try:
            item, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if grid is None:
                return None, at
            grid.add_bad(number)
            gap = text.find("\n\n", at)  # what is left of a broken array belongs to no other table
            return grid, gap if gap >= 0 else len(text)
        spread = text.count("\n", at, end) == len(item) + 1 if isinstance(item, dict) else False
        if grid is None:
            grid = _opened(item, number, reader)
            if grid is None:
                return None, end
            grid.spread = spread
        grid.spread &= spread
        _add(grid, item, number)
        at = _skip(text, end)
        if text[at : at + 1] != ",":
            complete = text[at : at + 1] == "]"
            if not complete:
                grid.add_bad(bisect_right(ends, at) + 1)
            return grid, at + complete
        at += 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _opened(item: Any, number: int, reader: str) -> Grid | None:
    headings = headings_of(list(item)) if isinstance(item, dict) else ()
    return Grid(reader, number, headings, plain=True) if headings else None


def _add(grid: Grid, item: Any, number: int) -> None:
    names = [heading.text for heading in grid.headings]
    values = [item[name] for name in names] if isinstance(item, dict) and item.keys() == set(names) else None
    if values is None or any(isinstance(value, dict | list) for value in values):
        grid.add_bad(number)
    else:
        grid.add(["" if value is None else str(value) for value in values], number)
