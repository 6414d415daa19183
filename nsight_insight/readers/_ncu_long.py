"""The details page: one metric or one rule result per line. Live ``--csv --metrics`` runs print it, too."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import Final

import numpy as np

from nsight_insight.catalog.metrics import label_index
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
from nsight_insight.readers._ncu_page import Page, Printed, RuleRow, capability, wanted_metrics
from nsight_insight.readers._ncu_scan import Record

_LABEL_NAME: Final = re.compile(r".* \(([A-Za-z][\w.:]*)\)", re.DOTALL)
_COUNT_LABELS: Final = {("Launch Statistics", "# SMs"): "launch__sm_count"}
"""The only device attribute that the details page prints."""
_RULE_HEADINGS: Final = (SECTION, RULE, RULE_TYPE, RULE_TEXT, SPEEDUP_TYPE, SPEEDUP)
_Cell = tuple[int, str, str]


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
        self._found: dict[tuple[str, str], dict[int, _Cell]] = defaultdict(dict)
        self._available: set[str] = set()
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
        shown, names = metric_names(section, written, cells[self._cc] if self._cc >= 0 else "")
        self._available.add(shown)
        cell = (line, cells[self._unit] if self._unit >= 0 else "", cells[self._value])
        for name in names:
            self._found[name, written].setdefault(row, cell)

    def _rule_cells(self, cells: list[str]) -> dict[str, str]:
        places = self.layout.places
        return {h: cells[places[h]] for h in _RULE_HEADINGS if h in places and places[h] < len(cells)}

    def finish(self) -> Page:
        """The page as columns."""
        printed: dict[str, list[Printed]] = {}
        for (name, written), found in self._found.items():
            printed.setdefault(name, []).append(self._column(name, written, found))
        evidence = (cell[2] for found in self._found.values() for cell in found.values())
        names = frozenset(self._available)
        nvtx = nvtx_states(self.layout, self._texts)
        layout = self.layout
        return Page(
            DETAILS, layout.line, self._lines, self._texts, layout.origins, printed, names, self._unit >= 0,
            self._rules, evidence, nvtx,
        )  # fmt: skip

    def _column(self, name: str, written: str, found: dict[int, _Cell]) -> Printed:
        rows = len(self._lines)
        cells: list[str | None] = [None] * rows
        units = [""] * rows
        lines = np.array(self._lines, dtype=np.int64)
        for row, (line, unit, value) in found.items():
            cells[row], units[row], lines[row] = value, unit, line
        return Printed(name, written, self._value + 1, cells, units, lines)


@lru_cache(maxsize=16384)
def metric_names(section: str, written: str, cc: str) -> tuple[str, tuple[str, ...]]:
    """What a Metric Name cell stands for.

    Args:
        section: display name of the section; a label alone is ambiguous.
        written: label, metric name, or ``Label (metric.name)``.
        cc: compute capability cell, "" when the table has none.

    Returns:
        The name or label to list as available, and the metric names somebody may ask for.
    """
    wanted = wanted_metrics()
    if written in wanted:
        return written, (written,)
    if (found := _LABEL_NAME.fullmatch(written)) and ("__" in found[1] or found[1] in wanted):
        return found[1], (found[1],) if found[1] in wanted else ()
    if name := _COUNT_LABELS.get((section, written)):
        return written, (name,)
    aliases = label_index().get((section, written), ())
    return written, tuple(dict.fromkeys(alias.metric for _, alias in aliases if alias.exists_on(capability(cc))))
