"""One table of ``ncu --csv --print-summary``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from nsight_insight.model.numbers import read_count
from nsight_insight.model.profile import ColumnOrigin
from nsight_insight.readers._ncu_cells import Cell, CellCollector
from nsight_insight.readers._ncu_layout import BLOCK, CC, DEVICE, GRID, METRIC, NAME, NVTX, PROCESS, SECTION, UNIT
from nsight_insight.readers._ncu_nvtx import parse_ranges
from nsight_insight.readers._ncu_page import Page
from nsight_insight.readers._ncu_summary import REPORT

VALUES: Final = ("Average", "Maximum", "Minimum")
_COUNT: Final = "Invocations"
_DOMAIN, _RANGE = "Domain", "Range:"
_DEVICE_ID: Final = "Device Id"
_IDENTITY: Final = (PROCESS, _DOMAIN, _RANGE, NAME, BLOCK, GRID, DEVICE, _DEVICE_ID, CC, _COUNT)
_PRODUCT: Final = re.compile(r"\d{1,18}")


@dataclass(frozen=True)
class Heading:
    """The heading of a summary, as written."""

    line: int
    cells: tuple[str, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """Heading -> 0-based field position; the NVTX column under ``Range:``."""
        return {(_RANGE if cell.startswith(_RANGE) else cell): place for place, cell in enumerate(self.cells)}


@dataclass
class SummaryTable:
    """Collects the rows under one heading.

    Attributes:
        shifted: whether the first row does not fit the heading.
    """

    heading: Heading
    shifted: bool = False
    _rows: dict[tuple[str, ...], int] = field(default_factory=dict)
    _lines: list[int] = field(default_factory=list)
    _keys: list[dict[str, str]] = field(default_factory=list)
    _cells: tuple[CellCollector, ...] = field(default_factory=lambda: tuple(CellCollector() for _ in VALUES))

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def domains(self) -> frozenset[str]:
        """NVTX domains that launches were merged for, one after the other."""
        return frozenset(key[_DOMAIN] for key in self._keys if _DOMAIN in key)

    def add(self, line: int, cells: Sequence[str]) -> bool:
        """Take a row; False when it is none of the table."""
        places = self.heading.places
        if len(cells) != len(self.heading.cells):
            return False
        identity = {heading: cells[places[heading]] for heading in _IDENTITY if heading in places}
        if not identity.get(NAME) or not read_count(identity[_COUNT]):
            self.shifted = self.shifted or not self._lines
            return False
        key = tuple(identity.values())
        if key not in self._rows:
            self._rows[key] = len(self._lines)
            self._lines.append(line)
            self._keys.append(identity)
        section = cells[places[SECTION]] if SECTION in places else ""
        for collector, name in zip(self._cells, VALUES, strict=True):
            cell = Cell(line, cells[places[UNIT]], cells[places[name]])
            collector.take(self._rows[key], section, cells[places[METRIC]], identity.get(CC, ""), cell)
        return True

    def pages(self) -> list[Page]:
        """The table as pages of averages, maxima and minima."""
        texts = {heading: [key[heading] for key in self._keys] for heading in self._keys[0]}
        origins = {heading: self._origin(heading) for heading in (PROCESS, NAME, BLOCK, GRID, CC) if heading in texts}
        counts = [read_count(text) or 1 for text in texts.pop(_COUNT)]
        if _DEVICE_ID in texts:
            texts[DEVICE] = texts.pop(_DEVICE_ID)
        for heading in (BLOCK, GRID):
            texts[heading] = [_shape(cell) for cell in texts.get(heading, [""] * len(counts))]
            origins.setdefault(heading, origins[NAME])
        texts.pop(_DOMAIN, None)
        ranges = [(-1, parse_ranges(cell)) for cell in texts.pop(_RANGE, [])]
        if ranges:
            origins[NVTX] = self._origin(_RANGE)
        return [self._page(place, texts, origins, counts, ranges) for place in range(len(VALUES))]

    def _page(
        self, place: int, texts: dict[str, list[str]], origins: dict[str, ColumnOrigin], counts: list[int],
        ranges: list[tuple[int, str]],
    ) -> Page:  # fmt: skip
        cells, column = self._cells[place], self.heading.places[VALUES[place]] + 1
        return Page(
            REPORT, self.heading.line, self._lines, texts, origins, cells.printed(self._lines, column),
            cells.available, evidence=cells.evidence(), nvtx=ranges, counts=counts,
        )  # fmt: skip

    def _origin(self, heading: str) -> ColumnOrigin:
        place = self.heading.places[heading]
        return ColumnOrigin(self.heading.cells[place], place + 1)


def heading_of(line: int, cells: Sequence[str]) -> Heading | None:
    """The heading of a summary that cells are."""
    heading = Heading(line, tuple(cells))
    wanted = (NAME, _COUNT, METRIC, UNIT, *VALUES)
    return heading if all(name in heading.places for name in wanted) else None


def _shape(cell: str) -> str:
    """``256`` of 2020 and 2022, a product of dimensions, as ``(256, 1, 1)``."""
    return f"({cell}, 1, 1)" if _PRODUCT.fullmatch(cell) else cell
