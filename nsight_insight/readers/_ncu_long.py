"""The details page: one metric or one rule result per line. Live ``--csv --metrics`` runs print it, too."""

from __future__ import annotations

from typing import Final

from nsight_insight.readers._ncu_cells import Cell, CellCollector
from nsight_insight.readers._ncu_layout import (
    CC,
    DETAILS,
    ID,
    IDENTITY,
    METRIC,
    PROCESS,
    RULE,
    RULE_TEXT,
    RULE_TYPE,
    SECTION,
    SPEEDUP,
    SPEEDUP_TYPE,
    UNIT,
    VALUE,
    Layout,
)
from nsight_insight.readers._ncu_nvtx import nvtx_states
from nsight_insight.readers._ncu_page import Page, RuleRow
from nsight_insight.readers._ncu_scan import Record

_RULE_HEADINGS: Final = (SECTION, RULE, RULE_TYPE, RULE_TEXT, SPEEDUP_TYPE, SPEEDUP)


class LongPage:
    """Collects the records of one details page."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        places = layout.places
        self._headings = [heading for heading in IDENTITY if heading in places]
        self._section, self._metric = places.get(SECTION, -1), places.get(METRIC, -1)
        self._unit, self._value, self._cc = places.get(UNIT, -1), places[VALUE], places.get(CC, -1)
        self._rule, self._process, self._id = places.get(RULE, -1), places.get(PROCESS, -1), places[ID]
        self._rows: dict[tuple[str, str], int] = {}
        self._lines: list[int] = []
        self._texts: dict[str, list[str]] = {heading: [] for heading in self._headings}
        self._cells = CellCollector()
        self._rules: list[RuleRow] = []

    def add(self, record: Record) -> bool:
        """Take a record; always True, the scan lets no other through."""
        cells = record.cells
        key = (cells[self._process] if self._process >= 0 else "", cells[self._id])
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self._lines)
            self._lines.append(record.line)
            for heading in self._headings:
                self._texts[heading].append(cells[self.layout.places[heading]])
        if 0 <= self._rule < len(cells) and cells[self._rule]:
            column = self.layout.places.get(RULE_TEXT, -1) + 1
            field = RULE_TEXT if column else ""
            self._rules.append(RuleRow(row, record.line, self._rule_cells(cells), column or None, field))
        elif written := cells[self._metric]:
            self._take(row, record.line, written, cells)
        return True

    def _take(self, row: int, line: int, written: str, cells: list[str]) -> None:
        section = cells[self._section] if self._section >= 0 else ""
        cc = cells[self._cc] if self._cc >= 0 else ""
        cell = Cell(line, cells[self._unit] if self._unit >= 0 else "", cells[self._value])
        self._cells.take(row, section, written, cc, cell)

    def _rule_cells(self, cells: list[str]) -> dict[str, str]:
        places = self.layout.places
        return {h: cells[places[h]] for h in _RULE_HEADINGS if h in places and places[h] < len(cells)}

    def finish(self) -> Page:
        """The page as columns."""
        nvtx = nvtx_states(self.layout, self._texts)
        printed = self._cells.printed(self._lines, self._value + 1)
        return Page(
            DETAILS, self.layout.line, self._lines, self._texts, self.layout.origins, printed, self._cells.available,
            self._unit >= 0, self._rules, self._cells.evidence(), nvtx,
        )  # fmt: skip
