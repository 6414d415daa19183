"""Finds the column, table and TSV forms of nsys' tables in a text, and the sections of ``nsys analyze``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from nsight_insight.catalog.nsys_reports import Heading, fitting_reports, load_reports
from nsight_insight.model.text import clean
from nsight_insight.readers._nsys_banners import Banner, parse_banner, version_of
from nsight_insight.readers._nsys_grid import Grid, headings_of
from nsight_insight.readers._nsys_layout import Boxes, Columns, Layout, all_but_last, rule_line, tabbed
from nsight_insight.readers._nsys_scan import TIME_UNITS

READER: Final = "nsys_text"
MAYBE: Final = re.compile(r"-{3,}(?: +-{3,}){3}|-{3,}(?:\+-{3,}){3}|\) *\t[^\t\n]*\t|^ \*\* .*\(\w+\):", re.MULTILINE)
"""Something to look for is in a text that holds this."""
_PIECES: Final = ("---", "\t", " ** ")
"""One of these is in every match of ``MAYBE``; looking for them first is a hundred times quicker."""
_TITLE: Final = re.compile(r" ?\*\* (.+) \(([\w:-]+)\):\s*")
_LOOK_BACK: Final = 3
"""Lines between a heading and the dashes below it, blank ones included."""
_MAX_PROSE: Final = 30
_CUT: Final = frozenset({"...", "…", "[...]"})


def maybe(content: str) -> bool:
    """Whether a text may hold a printed table; False is certain."""
    return any(piece in content for piece in _PIECES) and MAYBE.search(content) is not None


@dataclass
class Section:
    """What ``nsys analyze`` says about one rule.

    Attributes:
        rule: name of the rule.
        prose: the lines before the table, blank ones included.
        note: what stands behind the table.
        grid: the table, None when the rule found nothing.
    """

    rule: str
    title: str
    line: int
    prose: list[str] = field(default_factory=list)
    note: str = ""
    grid: Grid | None = None


@dataclass
class Grids:
    """Everything found in one text.

    Attributes:
        used: lines (from 0) that belong to something found.
        unknown: line and headings of tables that no report fits.
    """

    grids: list[Grid] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    unknown: list[tuple[int, tuple[Heading, ...]]] = field(default_factory=list)


def scan_grids(lines: Sequence[str]) -> Grids:
    """All tables that are printed in lines, and all sections of rules."""
    return _Scanner(lines).run()


def shown(raw: str) -> str:
    """A line as a terminal shows it: redrawn progress overwritten, colours gone."""
    line = raw.rstrip("\r").rpartition("\r")[2].replace("\x00", "\ufffd")
    return clean(line) if "\x1b" in line else line


class _Scanner:
    """State machine over lines: outside, in a table, in the prose of a rule."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.found = Grids()
        self.grid: Grid | None = None
        self.layout: Layout = Columns(())
        self.section: Section | None = None
        self.gap = False
        self.banner = self.version = ""

    def run(self) -> Grids:
        for index, raw in enumerate(self.lines):
            line = shown(raw)
            if not line.strip():
                self.gap = True
                if self.section is not None:
                    self.take_prose(self.section, "")
            else:
                self.step(line, index)
        return self.found

    def step(self, line: str, index: int) -> None:
        rule = rule_line(line)
        if rule is not None:
            self.take_rule(rule, index)
        elif banner := parse_banner(line, index + 1):
            self.take_banner(banner)
            self.take_version(line)
        elif title := _TITLE.fullmatch(line):
            self.take_title(title[1], title[2], index)
        elif not self.open_tabbed(line, index) and not self.take_row(line, index):
            self.take_other(line)

    def take_banner(self, banner: Banner) -> None:
        self.section = None
        if banner.kind in ("report", "skipped"):
            self.grid = None
            self.banner = banner.report

    def take_version(self, line: str) -> None:
        self.version = version_of(line) or self.version

    def take_title(self, title: str, name: str, index: int) -> None:
        self.found.used.add(index)
        self.grid = self.section = None
        self.banner = name.partition(":")[0]
        report = load_reports().get(name)
        if report is not None and report.rule:
            self.section = Section(name, title, index + 1)
            self.found.sections.append(self.section)

    def take_rule(self, layout: Columns | Boxes, index: int) -> None:
        """A line of dashes: below a heading it opens a table, in boxes it also closes one."""
        for above in range(index - 1, max(index - 1 - _LOOK_BACK, -1), -1):
            line = shown(self.lines[above])
            if line.strip():
                self.open_below(layout, line, above, index)
                return

    def open_below(self, layout: Columns | Boxes, line: str, above: int, index: int) -> None:
        headings = headings_of(layout.headings(line)) if above not in self.found.used else ()
        if len(headings) == len(layout.spans):
            self.found.used.update((above, index))
            self.open(headings, layout, above + 1)
        elif self.grid is not None and isinstance(layout, Boxes):
            self.found.used.add(index)
            self.grid = None

    def open_tabbed(self, line: str, index: int) -> bool:
        layout = tabbed(line)
        if layout is None or line[:1].isdigit():
            return False
        headings = headings_of(layout.headings(line))
        if headings:
            self.found.used.add(index)
            self.open(headings, layout, index + 1)
        return bool(headings)

    def open(self, headings: tuple[Heading, ...], layout: Layout, number: int) -> None:
        self.grid, self.gap = None, False
        if not fitting_reports(headings):
            if any(heading.unit in TIME_UNITS for heading in headings):
                self.found.unknown.append((number, headings))
            return
        spans = layout.spans if isinstance(layout, Columns | Boxes) else ()
        places = [start + 1 for start, _ in spans]
        grid = Grid(READER, number, headings, banner=self.banner, version=self.version, plain=not spans, columns=places)
        if isinstance(layout, Columns):
            layout = replace(layout, loose=all_but_last(list(grid.figures), len(headings)))
        self.grid, self.layout, self.banner = grid, layout, ""
        self.found.grids.append(grid)
        if self.section is not None:
            self.section.grid = grid
            self.section.prose = _without_last(self.section.prose)

    def take_row(self, line: str, index: int) -> bool:
        """True when the line belongs to the open table."""
        if self.grid is None:
            return False
        cells = self.layout.cells(line)
        if cells is None or not self.is_row(self.grid, cells):
            cells = self.split(line)
        if cells is not None:
            self.grid.add(cells, index + 1)
        elif not self.gap and self.damaged(line, index):
            self.grid.add_bad(index + 1)
        else:
            self.gap = True
            return False
        self.gap = False
        self.found.used.add(index)
        return True

    def is_row(self, grid: Grid, cells: Sequence[str]) -> bool:
        """True for a row; right below another one a few of its figures may be spoilt."""
        if grid.looks_like_row(cells):
            return True
        figures = sum(_FIGURE.fullmatch(cells[place]) is not None for place in grid.figures)
        return not self.gap and 2 * figures > len(grid.figures)

    def split(self, line: str) -> list[str] | None:
        """Cells of a row right below another whose blanks were lost; None for any other line."""
        if self.grid is None or self.gap or not isinstance(self.layout, Columns):
            return None
        cells = self.layout.split(line)
        whole = cells is not None and all(_FIGURE.fullmatch(cells[place]) for place in self.grid.figures)
        return cells if whole else None

    def damaged(self, line: str, index: int) -> bool:
        """True for a line that was a row once; False for program output right behind a table."""
        if line.strip() in _CUT:
            return True
        last = index == self.last_line()
        first = line.split(None, 1)[0] if last or not isinstance(self.layout, Columns) else self.layout.first(line)
        return _FIGURE.fullmatch(first) is not None

    def last_line(self) -> int:
        last = len(self.lines) - 1
        while last > 0 and not self.lines[last].strip():
            last -= 1
        return last

    def take_other(self, line: str) -> None:
        self.take_version(line)
        if self.section is not None:
            self.take_prose(self.section, line.strip())

    def take_prose(self, section: Section, text: str) -> None:
        if section.grid is None:
            if len(section.prose) < _MAX_PROSE:
                section.prose.append(text)
        elif text.startswith("Only the top "):
            section.note = text


def _without_last(prose: list[str]) -> list[str]:
    """The lines before a table without its heading, which was taken for one of them."""
    while prose and not prose[-1]:
        prose = prose[:-1]
    return prose[:-1]


_FIGURE: Final = re.compile("[0-9]+(?:[.,'][0-9]+)*")
