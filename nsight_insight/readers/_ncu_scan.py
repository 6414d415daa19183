"""Finds the tables of ncu in a text: records with their lines, whatever stands before, between and behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nsight_insight.readers._ncu_banners import Banner, banner_of
from nsight_insight.readers._ncu_layout import ID, NAME, PROCESS, RAW, Layout, fields, heading_of, other_page

MAX_RECORD_LINES: Final = 64
"""Texts of failed rules hold line ends; further than this an open quote is taken for damage."""
_START: Final = re.compile(r'"\d+","\d+","')
"""ID and process of a launch, also behind other output."""
_START_BARE: Final = re.compile(r"(?:\d+,)?\d+,\d+,")
_FIELD: Final = re.compile(r'"((?:[^"]|"")*)"')
_WHOLE: Final = re.compile(r"[0-9]{1,18}(?:\.0+)?")


@dataclass(frozen=True)
class Record:
    """One row of the table whose heading came last."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class Damage:
    """A line that was a record once."""

    line: int
    text: str


@dataclass(frozen=True)
class OtherPage:
    """The heading of a page that holds no table of launches."""

    line: int
    page: str


Event = Layout | Record | Damage | Banner | OtherPage


def scan(lines: Sequence[str]) -> Iterator[Event]:
    """Everything of ncu in a text, in its order; program output is passed over."""
    layout: Layout | None = None
    index = 0
    while index < len(lines):
        line, end = lines[index], index + 1
        event: Event | None = None
        if found := heading_of(line, index + 1):
            layout = event = found
        elif banner := banner_of(line, index + 1):
            yield banner
            line = line[: banner.start]
        if event is None and layout is not None:
            event, end = _record(line, lines, index, layout)
        if event is None and (page := other_page(line)):
            event, layout = OtherPage(index + 1, page), None
        if event is not None:
            yield event
        index = end


def _record(line: str, lines: Sequence[str], index: int, layout: Layout) -> tuple[Record | Damage | None, int]:
    """The record in ``lines[index]``, or what is left of one, and the index of the line behind it."""
    number, end = index + 1, index + 1
    if line[:1] == '"' or not layout.quoted:
        cells = fields(line)
        # A quoted record ends with a comma only where its last cell is left out; else the rest was cut off.
        cut = layout.quoted and line[-1:] == "," and len(cells or ()) != layout.empty_end
        if cells is not None and not cut and _legal(cells, layout):
            return Record(number, cells), end
        if cells is None and line.count('"') % 2 and (found := _over_lines(lines, index, layout)):
            return found
    if not layout.quoted:
        return (Damage(number, _why(line, layout)) if _START_BARE.match(line) else None), end
    starts = [found.start() for found in _START.finditer(line)]
    for start in starts:
        cells = _leading_fields(line[start:], layout)
        if _legal(cells, layout):
            return Record(number, cells), end
    return (Damage(number, _why(line[starts[0] :], layout)) if starts else None), end


def _leading_fields(text: str, layout: Layout) -> list[str]:
    """Quoted fields from the start of a text up to the first thing that is none."""
    cells: list[str] = []
    at = 0
    while found := _FIELD.match(text, at):
        cells.append(found[1].replace('""', '"'))
        at = found.end() + 1
        if text[found.end() : at] != ",":
            return cells
    # Behind a comma anything but the empty last cell of a metric row is a cell that was cut.
    return [*cells, ""] if len(cells) + 1 == layout.empty_end else []


def _over_lines(lines: Sequence[str], index: int, layout: Layout) -> tuple[Record, int] | None:
    """The record that goes on over the next lines, as long as none of them starts something else."""
    parts = [lines[index]]
    for end in range(index + 1, min(index + MAX_RECORD_LINES, len(lines))):
        if lines[end].startswith("==") or _START.match(lines[end]):
            return None
        parts.append(lines[end])
        if lines[end].count('"') % 2:
            cells = fields("\n".join(parts))
            # A line end in any other cell means that other output went in between.
            broken = (place for place, cell in enumerate(cells or ()) if "\n" in cell)
            if cells is None or not _legal(cells, layout) or not layout.free_text.issuperset(broken):
                return None
            return Record(index + 1, cells), end + 1
    return None


def _legal(cells: Sequence[str], layout: Layout) -> bool:
    """Whether cells can be a row of the table: as many as it has, and numbers where it numbers launches."""
    if len(cells) not in layout.widths or (len(cells) == layout.empty_end and cells[-1]):
        return False
    places = layout.places
    number = cells[places[ID]]
    if not number:  # the units of a raw page
        return layout.page == RAW and not cells[places[NAME]]
    process = cells[places[PROCESS]] if PROCESS in places else "0"
    return bool(_WHOLE.fullmatch(number) and _WHOLE.fullmatch(process))


def _why(text: str, layout: Layout) -> str:
    widths = " or ".join(map(str, sorted(layout.widths)))
    cells = fields(text)
    if cells is None:
        return f"record is cut or mixed with other output, {widths} fields expected"
    return f"record of {len(cells)} fields where {widths} are expected"
