"""Finds nsys tables by their headings, anywhere in a text, and keeps every line's number."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.catalog.nsys_reports import (
    Heading,
    ReportFormat,
    fitting_reports,
    heading_keys,
    parse_heading,
)
from nsight_insight.readers._nsys_banners import Banner, parse_banner

MAX_RECORD_LINES: Final = 64
"""A quoted cell (an NVTX text) may hold line ends; further than this an open quote is taken for damage."""
TIME_UNITS: Final = frozenset({"ns", "us", "ms", "s"})
_OTHER_FORMAT: Final = re.compile(
    r'[ |]*Time ?\(%\)[ |\t]+Total Time|[ |]*Start \(\w+\)[ |\t]+Duration| *"Time ?\(%\)": | \*\* .* \(\w+\):$'
)
_LOOKED_AT: Final = 4
"""Every row has a number under its first headings; no heading begins with a digit."""
_CUT: Final = ("...", "…")


@dataclass
class Block:
    """One table as text.

    Attributes:
        line: line of the heading.
        candidates: reports the headings fit.
        banner: report name of the banner before it, "" when none.
        records: CSV records with as many fields as the heading has.
        numbers: first line of each record.
        bad: first line, last line and reason of each run of lines that are no such record.
        reader: the reader that stands for the form the table was printed in.
        columns: character column of each heading where the cells stand below each other, else empty.
        spread: every cell has a line of its own, in the order of the headings, below the line of its row.
    """

    line: int
    headings: tuple[Heading, ...]
    candidates: Sequence[ReportFormat]
    banner: str = ""
    version: str = ""
    records: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    bad: list[tuple[int, int]] = field(default_factory=list)
    reader: str = "nsys_csv"
    columns: Sequence[int] = ()
    spread: bool = False

    def column(self, position: int) -> int:
        """Where the cells of a heading stand: field number in a record, character column in plain text."""
        return self.columns[position] if self.columns else position + 1


@dataclass
class Scan:
    """Everything found in one text."""

    blocks: list[Block] = field(default_factory=list)
    banners: list[Banner] = field(default_factory=list)
    unknown: list[tuple[int, tuple[Heading, ...]]] = field(default_factory=list)
    other_format: int = 0


def scan(lines: Sequence[str]) -> Scan:
    """All tables and banners of a text."""
    return _Scanner(lines).run()


def fields(record: str) -> list[str] | None:
    """The cells of one record, None when it is not well-formed CSV."""
    if '"' not in record:
        return record.split(",")
    try:
        return next(csv.reader([record], strict=True), None)
    except csv.Error:
        return None


def other_format(line: str) -> bool:
    """True for a heading or title of nsys' column, table, TSV or JSON output."""
    return _OTHER_FORMAT.match(line) is not None


MAX_HEADINGS: Final = 40
"""No nsys report has more columns; records of wide tables of other tools do."""


def heading_of(line: str) -> tuple[Heading, ...]:
    """The headings a line holds, empty when it is no heading of nsys."""
    first = line.split(",", _LOOKED_AT)
    if len(first) == 1 or any(cell[:1].isdigit() for cell in first[:_LOOKED_AT]):
        return ()
    cells = fields(line) or []
    if len(cells) > MAX_HEADINGS:
        return ()
    headings = tuple(parse_heading(cell.strip()) for cell in cells)
    known = [heading for heading in headings if heading.key in heading_keys()]
    return headings if len(known) >= 3 or fitting_reports(headings) else ()


class _Scanner:
    """State machine over lines: outside, in a table, or in the gap after a blank line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.found = Scan()
        self.block: Block | None = None
        self.gap = False
        self.banner = self.version = ""

    def run(self) -> Scan:
        index = 0
        while index < len(self.lines):
            if self.block is not None and not self.gap:
                index = self.take_plain_rows(self.block, index)
            if index < len(self.lines):
                index = self.step(index)
        return self.found

    def take_plain_rows(self, block: Block, index: int) -> int:
        """Takes the rows that need no second look, nearly all of a large table; returns the first that does."""
        lines, commas, end = self.lines, len(block.headings) - 1, index
        while end < len(lines) and _is_plain_row(lines[end], commas):
            end += 1
        block.records.extend(lines[index:end])
        block.numbers.extend(range(index + 1, end + 1))
        return end

    def step(self, index: int) -> int:
        """Handles the line at ``index`` (and what belongs to it); returns the next one to handle."""
        line = self.lines[index]
        if "\r" in line and self.block is None:
            line = line.rpartition("\r")[2]  # a progress line, redrawn
        line = _tidy(line)
        if not line.strip():
            self.gap = True
            return index + 1
        if banner := parse_banner(line, index + 1):
            self.take_banner(banner)
            return index + 1
        if headings := heading_of(line):
            self.open_block(headings, index + 1)
            return index + 1
        if self.block is not None:
            return self.take_record(self.block, line, index)
        self.note_other_format(line, index)
        return index + 1

    def take_banner(self, banner: Banner) -> None:
        self.found.banners.append(banner)
        if banner.kind in ("report", "skipped"):
            self.block = None
            self.banner = banner.report
            self.version = banner.version or self.version

    def open_block(self, headings: tuple[Heading, ...], number: int) -> None:
        self.block, self.gap = None, False
        candidates = fitting_reports(headings)
        if candidates:
            self.block = Block(number, headings, candidates, self.banner, self.version)
            self.found.blocks.append(self.block)
        elif any(heading.unit in TIME_UNITS for heading in headings):
            self.found.unknown.append((number, headings))
        self.banner = ""

    def take_record(self, block: Block, line: str, index: int) -> int:
        record, end = self.record(line, index)
        cells = fields(record)
        if cells is not None and len(cells) == len(block.headings) and (not self.gap or _plausible(block, cells)):
            self.gap = False
            block.records.append(record)
            block.numbers.append(index + 1)
            return end
        if self.gap:
            self.note_other_format(line, index)
        elif self.damaged(line, index):
            self.add_bad(block, index + 1)
        else:
            self.gap = True
        return index + 1

    def record(self, line: str, index: int) -> tuple[str, int]:
        """The record that starts at ``index``, with further lines as long as a quote is open."""
        if line.count('"') % 2 == 0 or fields(line) is not None:
            return line, index + 1
        parts = [line]
        for end in range(index + 1, min(index + MAX_RECORD_LINES, len(self.lines))):
            parts.append(_tidy(self.lines[end]))
            if parts[-1].count('"') % 2:
                return "\n".join(parts), end + 1
        return line, index + 1

    def damaged(self, line: str, index: int) -> bool:
        """True for a line that was a row once; False for program output right behind a table."""
        last = index == len(self.lines) - 1
        return last or "," in line or line[0].isdigit() or line.strip() in _CUT

    def add_bad(self, block: Block, number: int) -> None:
        if block.bad and block.bad[-1][1] == number - 1:
            block.bad[-1] = (block.bad[-1][0], number)
        else:
            block.bad.append((number, number))

    def note_other_format(self, line: str, index: int) -> None:
        if not self.found.other_format and other_format(line):
            self.found.other_format = index + 1


def _is_plain_row(line: str, commas: int) -> bool:
    """True for a row that begins with a number and has a quoted cell at its end at most."""
    if not line[:1].isdigit() or "\r" in line or "\x00" in line:
        return False
    cells, quote, quoted = line.partition('"')
    if cells.count(",") != commas:
        return False
    return not quote or (cells.endswith(",") and quoted.find('"') == len(quoted) - 1 >= 0)


def _tidy(line: str) -> str:
    """Without the control characters that CSV parsers take for the end of a record or of the text."""
    return line.replace("\r", " ").replace("\x00", "\ufffd")


def _plausible(block: Block, cells: Sequence[str]) -> bool:
    """After a blank line only a row whose key figures are numbers continues the table."""
    report = block.candidates[0]
    places = report.places(block.headings)
    figures = [cells[places[key]] for key in report.key if report.columns.get(key) in ("duration", "count", "bytes")]
    return all(figure.strip().replace(".", "", 1).isdigit() for figure in figures)
