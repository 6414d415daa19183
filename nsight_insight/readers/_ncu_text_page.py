"""One page of ncu's text output as a ``Page``: its launches, cells and rule results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.model.profile import ColumnOrigin
from nsight_insight.readers._ncu_cells import Cell, CellCollector
from nsight_insight.readers._ncu_layout import (
    BLOCK,
    CC,
    CONTEXT,
    DEVICE,
    GRID,
    ID,
    NAME,
    NVTX,
    PROCESS,
    RULE,
    RULE_TEXT,
    RULE_TYPE,
    SECTION,
    SPEEDUP,
    SPEEDUP_TYPE,
    STREAM,
)
from nsight_insight.readers._ncu_page import Page, RuleRow
from nsight_insight.readers._ncu_rules import rule_of, section_identifier
from nsight_insight.readers._ncu_summary import REPORT as SUMMARY
from nsight_insight.readers._ncu_text_lines import LaunchLine, TextCell

_SPEEDUP: Final = re.compile(r"Est(?:\.|imated) (Local )?Speedup: ([0-9.,]+)%")
_WIDTH: Final = 120
"""ncu wraps the texts of rules at this column, and cuts words that are longer than a whole line."""
_PARTS: Final = {"name": NAME, "grid": GRID, "block": BLOCK, "context": CONTEXT, "stream": STREAM,
                 "device": DEVICE, "cc": CC}  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """One launch as far as its own lines tell.

    Attributes:
        number: its ID: launches of a run are counted from 0.
        nvtx: thread and names of the open ranges; None when nothing is said.
    """

    number: int
    line: int
    process: str
    opened: LaunchLine
    nvtx: tuple[int, str] | None


class TextPage:
    """Collects what one run of ncu printed of one page."""

    def __init__(self, report: str, line: int) -> None:
        self.report, self.line = report, line
        self._launches: list[Launch] = []
        self._cells = [CellCollector(), CellCollector(), CellCollector()]
        self._rules: list[RuleRow] = []
        self._section = ""

    def __len__(self) -> int:
        return len(self._launches)

    def open_launch(self, launch: Launch) -> None:
        """Begin a launch; what follows belongs to it."""
        self._launches.append(launch)
        self._section = ""

    def open_section(self, title: str) -> None:
        """Begin a section of the launch."""
        self._section = title

    def add(self, line: int, cells: Sequence[TextCell]) -> None:
        """Take a row: label, unit and value, or label, unit and a summary's minimum, maximum and average."""
        label, unit, *values = cells
        for collector, value in zip(self._cells, reversed(values), strict=False):
            cell = Cell(line, unit.text, value.text, value.column)
            collector.take(len(self._launches) - 1, self._section, label.text, self._launches[-1].opened.cc, cell)

    def add_rule(self, line: int, kind: str, parts: Sequence[TextCell]) -> None:
        """Take a rule result in its lines."""
        speedup = _SPEEDUP.fullmatch(parts[0].text)
        text = _joined(parts[1:] if speedup else parts)
        section = section_identifier(self._section)
        cells = {RULE: rule_of(section, text), RULE_TYPE: kind, RULE_TEXT: text, SECTION: section}
        if speedup:
            cells[SPEEDUP_TYPE], cells[SPEEDUP] = "local" if speedup[1] else "global", speedup[2]
        self._rules.append(RuleRow(len(self._launches) - 1, line, cells, parts[0].column))

    def pages(self) -> list[Page]:
        """The page by itself or, of a summary, its averages, maxima and minima."""
        if self.report != SUMMARY:
            return [self._page(self._cells[0])]
        return [self._page(cells) for cells in self._cells]

    def _page(self, cells: CellCollector) -> Page:
        launches = self._launches
        lines = [launch.line for launch in launches]
        texts = {heading: [getattr(launch.opened, part) for launch in launches] for part, heading in _PARTS.items()}
        texts = {heading: found for heading, found in texts.items() if any(found)}
        texts[PROCESS] = [launch.process for launch in launches]
        if self.report != SUMMARY:
            texts[ID] = [str(launch.number) for launch in launches]
        said = any(launch.nvtx for launch in launches)
        return Page(
            self.report, self.line, lines, texts, self._origins(texts, said), cells.printed(lines, None),
            cells.available,
            rules=self._rules, evidence=cells.evidence(),
            nvtx=[launch.nvtx or (-1, "") for launch in launches] if said else (),
            counts=[int(launch.opened.count or 1) for launch in launches],
        )  # fmt: skip

    def _origins(self, texts: dict[str, list[str]], said: bool) -> dict[str, ColumnOrigin]:
        found: dict[str, ColumnOrigin] = {}
        for part, heading in _PARTS.items():
            if heading in texts:
                columns = [launch.opened.columns.get(part, 1) for launch in self._launches]
                found[heading] = ColumnOrigin(heading, None, columns=np.array(columns, dtype=np.int64))
        return {**found, NVTX: ColumnOrigin("NVTX", None)} if said else found


def _joined(parts: Sequence[TextCell]) -> str:
    """A text from its lines."""
    text = ""
    for part in parts:
        whole_line = part.column + len(part.text) > _WIDTH and " " not in part.text
        text += part.text + ("" if whole_line else " ")
    return text.strip()
