"""Finds ncu's text pages in a text: launches, tables and rule results, whatever stands around and between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.readers import _ncu_text_lines as grammar
from nsight_insight.readers._ncu_banners import SHOWN, Banner, banner_of
from nsight_insight.readers._ncu_layout import DETAILS, RAW
from nsight_insight.readers._ncu_summary import REPORT as SUMMARY
from nsight_insight.readers._ncu_text_lines import LaunchLine, TextCell
from nsight_insight.readers._ncu_text_page import Launch, TextPage

_STATE: Final = "== NVTX State =="
_PROGRESS: Final = "==PROF== "
_INDENT: Final = "    "
_COLUMNS: Final = (3, 5)
"""Columns of tables: label, unit and value, or label, unit, minimum, maximum and average."""


@dataclass
class _Rule:
    """A rule result that is being read."""

    line: int
    kind: str
    parts: list[TextCell]


@dataclass
class Scan:
    """Reads a text line by line.

    Attributes:
        pages: one per run of ncu and page.
        banners: warnings and errors of ncu.
        damage: lines that were rows once.
    """

    path: str
    pages: list[TextPage] = field(default_factory=list)
    banners: list[Banner] = field(default_factory=list)
    damage: list[Issue] = field(default_factory=list)
    _process: str = ""
    _device: tuple[str, str] = ("", "")
    _pending: LaunchLine | None = None
    _opened_at: int = 0
    _page: TextPage | None = None
    _new_run: bool = False
    _thread: str = ""
    _ranges: list[str] | None = None
    _state: bool = False
    _spans: list[tuple[int, int]] = field(default_factory=list)
    _rows: int = 0
    _held: tuple[int, list[TextCell]] | None = None
    _rule: _Rule | None = None

    def read(self, lines: Sequence[str]) -> None:
        """Take all lines of an input."""
        for number, line in enumerate(lines, 1):
            self._line(number, line)
        self._close_launch(len(lines))

    def _line(self, number: int, line: str) -> None:
        if not line.strip():
            self._end_rule()
            self._end_row()
            if self._page is not None and self._page.report == RAW:
                self._spans = []
        elif self._rule is not None and self._continues(line):
            self._rule.parts.append(TextCell(line.strip(), self._rule.parts[0].column))
        elif launch := grammar.launch_of(line):
            self._close_launch(number)
            self._pending, self._opened_at = launch, number
        elif not (self._around(number, line) or self._inside(number, line)):
            self._end_rule()

    def _continues(self, line: str) -> bool:
        assert self._rule is not None  # noqa: S101 - asked only while a rule is open
        start = self._rule.parts[0].column - 1
        return not line[:start].strip() and len(line) > start and line[start] != " "

    def _around(self, number: int, line: str) -> bool:
        """What belongs to no launch."""
        if banner := banner_of(line, number):
            self.banners.append(banner)
        elif _PROGRESS in line:
            # Within one run the tables of all processes come last.
            self._new_run = self._new_run or (self._pending is None and self._page is not None)
            self._close_launch(number)
        elif process := grammar.process_of(line):
            self._close_launch(number)
            self._process, self._device = process, ("", "")
        elif grammar.device_of(line)[1]:
            self._device = grammar.device_of(line)
        elif line.startswith(_STATE):
            self._close_launch(number)
            self._state, self._ranges = True, []
        elif self._state and line.startswith("  <") and line.rstrip().endswith(">"):
            self._state_range(number, line.strip()[1:-1])
        else:
            return False
        return True

    def _state_range(self, number: int, name: str) -> None:
        """A range of the state that the next launches ran in; behind a launch it begins a new state."""
        if self._page is not None:
            self._close_launch(number)
            self._ranges = []
        self._ranges = [*(self._ranges or ()), name]

    def _inside(self, number: int, line: str) -> bool:
        """What belongs to the launch that was opened last."""
        if self._pending is None and self._page is None:
            return False
        if thread := grammar.stack_of(line):
            self._thread, self._ranges = thread, []
        elif self._thread and self._ranges is not None and (name := grammar.range_of(line)) is not None:
            self._ranges.append(name)
        elif title := grammar.section_of(line):
            self._end_rule()
            self._end_table(number)
            self._table(SUMMARY if self._counted() else DETAILS).open_section(title)
        elif spans := grammar.dashes_of(line):
            self._dashes(spans)
        elif self._spans:
            return self._row(number, line)
        elif found := grammar.rule_of_line(line):
            self._end_rule()
            self._rule = _Rule(number, found[0], [found[1]])
        else:
            return False
        return True

    def _counted(self) -> bool:
        return bool(self._pending.count) if self._pending else self._page is not None and self._page.report == SUMMARY

    def _dashes(self, spans: list[tuple[int, int]]) -> None:
        self._end_rule()
        self._end_row()
        if len(spans) not in _COLUMNS:
            return
        # Above the first row, and again below a row of headings.
        self._spans = [] if self._spans and self._rows else spans
        self._rows = 0

    def _row(self, number: int, line: str) -> bool:
        cells = grammar.cells_of(line, self._spans)
        if cells is not None and self._held is not None and grammar.continued(self._held[1], cells, self._spans):
            self._held = self._held[0], grammar.joined(self._held[1], cells, self._spans)
            return True
        self._end_row()
        if cells is None or not cells[0].text:
            if line.startswith(_INDENT):
                self._damaged(number, "not a row of the table it stands in")
            return False
        if cells[0].text not in grammar.LABELS:
            self._held = number, cells
        return True

    def _end_row(self) -> None:
        if self._held is not None:
            (number, cells), self._held = self._held, None
            self._rows += 1
            self._table(SUMMARY if self._counted() else RAW).add(number, cells)

    def _table(self, report: str) -> TextPage:
        """The page that the open launch is on; the launch's first line decides which one that is."""
        if self._pending is None:
            assert self._page is not None  # noqa: S101 - only lines inside a launch get here
            return self._page
        page = next((page for page in reversed(self.pages) if page.report == report), None)
        if page is None or self._new_run:
            page = TextPage(report, self._opened_at)
            self.pages.append(page)
        self._new_run = False
        nvtx = None if self._ranges is None else (int(self._thread or -1), "/".join(self._ranges))
        device, cc = self._device
        opened = self._pending
        if not opened.cc and cc:
            opened = LaunchLine(**{**vars(opened), "device": device, "cc": cc})
        page.open_launch(Launch(len(page), self._opened_at, self._process, opened, nvtx))
        self._pending, self._page = None, page
        return page

    def _end_rule(self) -> None:
        if self._rule is not None:
            rule, self._rule = self._rule, None
            self._table(DETAILS).add_rule(rule.line, rule.kind, rule.parts)

    def _end_table(self, number: int) -> None:
        """Tables of the details page end with a line of dashes, those of the raw page do not."""
        self._end_row()
        if self._spans and self._rows and self._page is not None and self._page.report != RAW:
            self._damaged(number, "a table ends without its last line: it was cut")
        self._spans = []

    def _close_launch(self, number: int) -> None:
        self._end_rule()
        self._end_table(number)
        if self._pending is not None:
            self._damaged(self._opened_at, "a launch without a table")
        self._pending, self._page, self._thread = None, None, ""
        if not self._state:
            self._ranges = None

    def _damaged(self, number: int, text: str) -> None:
        if len(self.damage) < SHOWN:
            self.damage.append(Issue(Level.DATA_LOSS, text, Location(self.path, number)))
