"""What a heading of ncu says about the table under it. Columns are found by heading, never by position."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from nsight_insight.catalog.metrics import metric_index
from nsight_insight.model.profile import ColumnOrigin

RAW: Final = "raw"
DETAILS: Final = "details"
ID, PROCESS, NAME, NVTX = "ID", "Process ID", "Kernel Name", "thread Domain:"
MARK: Final = NAME
"""Words that every heading has."""
BLOCK, GRID, CONTEXT, STREAM, DEVICE, CC = "Block Size", "Grid Size", "Context", "Stream", "Device", "CC"
SECTION, METRIC, UNIT, VALUE = "Section Name", "Metric Name", "Metric Unit", "Metric Value"
RULE, RULE_TYPE, RULE_TEXT = "Rule Name", "Rule Type", "Rule Description"
SPEEDUP_TYPE, SPEEDUP = "Estimated Speedup Type", "Estimated Speedup"
IDENTITY: Final = (ID, PROCESS, NAME, NVTX, CONTEXT, STREAM, BLOCK, GRID, DEVICE, CC)
"""What tells a launch, as far as a generation of ncu prints it; the rest of the headings may stand in any order."""
_FREE_TEXT: Final = frozenset({NAME, NVTX, RULE_TEXT})
_NO_METRIC: Final = frozenset({*IDENTITY, "Process Name", "Host Name", "Kernel Time"})
_HEADINGS: Final = _NO_METRIC | {SECTION, METRIC, UNIT, VALUE, RULE, RULE_TYPE, RULE_TEXT, SPEEDUP_TYPE, SPEEDUP}
_SOURCE: Final = (["Address", "Source"], ["#", "Address"], ["#", "Source"])
_SESSION: Final = frozenset({"Launch Attribute", "Session Attribute", "Device Attribute"})
_OTHER_MARKS: Final = ('"Source"', ' Attribute"', '"Average"', f'"{NAME}",')
csv.field_size_limit(1 << 30)  # instances of one metric fill more than the 128 KiB the module allows by default


@dataclass(frozen=True)
class Layout:
    """The heading of one table.

    Attributes:
        line: line of the heading.
        headings: its cells, as written.
        quoted: False for tables that were re-saved without quotes.
    """

    line: int
    headings: tuple[str, ...]
    quoted: bool

    @cached_property
    def places(self) -> dict[str, int]:
        """Heading -> 0-based field position of its first occurrence; the NVTX column under ``NVTX``."""
        places: dict[str, int] = {}
        for place, heading in enumerate(self.headings):
            places.setdefault(NVTX if heading.startswith(NVTX) else heading, place)
        return places

    @cached_property
    def page(self) -> str:
        """``details`` for one metric per line, ``raw`` for one launch per line."""
        return DETAILS if VALUE in self.places else RAW

    @cached_property
    def widths(self) -> frozenset[int]:
        """Legal numbers of fields. Metric rows of a details page that also has rules end behind their value."""
        full = len(self.headings)
        if self.page == RAW:
            return frozenset({full})
        value = self.places[VALUE] + 1
        return frozenset({value, value + 1, full})

    @cached_property
    def empty_end(self) -> int:
        """The number of fields at which the last one is only what a trailing comma leaves, 0 for none."""
        width = self.places[VALUE] + 2 if self.page == DETAILS else 0
        return width if width != len(self.headings) else 0

    @cached_property
    def free_text(self) -> frozenset[int]:
        """Positions of cells that may hold line ends."""
        return frozenset(place for heading, place in self.places.items() if heading in _FREE_TEXT)

    @cached_property
    def origins(self) -> dict[str, ColumnOrigin]:
        """Where the identity cells stand."""
        places = self.places
        return {h: ColumnOrigin(self.headings[places[h]], places[h] + 1) for h in IDENTITY if h in places}

    @cached_property
    def metrics(self) -> tuple[tuple[int, str], ...]:
        """Position and name of the metric columns of a raw page."""
        return tuple(
            (place, heading)
            for place, heading in enumerate(self.headings)
            if heading and heading not in _NO_METRIC and not heading.startswith((NVTX, "Id:Domain:"))
        )


def fields(record: str) -> list[str] | None:
    """The cells of one record, None when it is not well-formed CSV."""
    try:
        return next(csv.reader((record,), strict=True), None)
    except csv.Error:
        return None


def heading_of(line: str, number: int) -> Layout | None:
    """The heading a line holds, possibly with other output in front of it."""
    if NAME not in line or ID not in line:
        return None
    for text in (line, line[line.find(f'"{ID}",') :]):
        cells = [cell.strip() for cell in fields(text) or ()]
        if ID in cells and NAME in cells and _are_headings(cells[: cells.index(ID)]):
            layout = Layout(number, tuple(cells), f'"{ID}"' in text)
            if layout.page == DETAILS or _has_metrics(layout):
                return layout
    return None


def _are_headings(cells: Sequence[str]) -> bool:
    """Whether cells in front of ``ID`` are mostly headings, of a reordered table, and not other output."""
    return 2 * sum(map(_is_heading, cells)) >= len(cells)


def _is_heading(cell: str) -> bool:
    unnamed = not cell or cell == "index" or cell.startswith(("Unnamed", NVTX, "Id:Domain:"))
    return unnamed or cell in _HEADINGS or "__" in cell or cell in metric_index()


def _has_metrics(layout: Layout) -> bool:
    return any("__" in name or name in metric_index() for _, name in layout.metrics)


def other_page(line: str) -> str:
    """The page of ncu that a line is a heading of but that is no table of launches, "" for none."""
    if not line.startswith('"') or not any(mark in line for mark in _OTHER_MARKS):
        return ""
    cells = fields(line) or []
    if cells[:2] in _SOURCE or (cells[:1] == [NAME] and len(cells) <= 3):
        return "source"
    if len(cells) == 2 and cells[0] in _SESSION:
        return "session"
    if {METRIC, "Minimum", "Maximum", "Average"} <= set(cells):
        return "summary"
    return ""
