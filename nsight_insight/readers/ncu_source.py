"""The source page of ncu as CSV: warp samples and stall reasons of every instruction or source line.

It lists no launches, so it explains those of other inputs: the hottest lines of each kernel are attached to them by its
name. By itself it is refused, because nothing in it says how long anything took.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.numbers import read_count
from nsight_insight.model.profile import ReadResult, Source, Table
from nsight_insight.readers._ncu_banners import SHOWN, Banner, banner_issues, banner_of, nothing_printed, with_banners
from nsight_insight.readers._ncu_hot import HotLines
from nsight_insight.readers._ncu_layout import fields, other_page
from nsight_insight.readers._ncu_text_lines import dashes_of
from nsight_insight.readers.text import SourceText

NAME: Final = "ncu_source"
REPORT: Final = "source"
_CERTAIN: Final = 0.9
_TEXT_PAGE: Final = 0.6
_KERNEL, _FILE = "Kernel Name", "File Name"
_ADDRESS, _SOURCE, _LINE = "Address", "Source", ("Line No", "#")
_SAMPLES: Final = ("# Samples", "smsp__pcsamp_sample_count", "Warp Stall Sampling (All Samples)",
                   "Warp Stall Sampling (All Cycles)", "Sampling Data (All)")  # fmt: skip
"""Headings of the column of samples since 2020, preferred first: the others leave out samples without a reason."""
_STALL, _NOT_ISSUED = "stall_", " (Not Issued)"
_ALONE: Final = (
    "ncu's source page lists instructions, not launches, and says nothing of time: give the report's raw page, too "
    "(ncu --import REPORT --csv --page raw), and the hottest lines are shown with its kernels"
)
_AS_CSV: Final = "ncu's source page as text is cut into columns too narrow to read back: print it with --csv"


def sniff(text: SourceText) -> float:
    """0.9 where a heading of the source page is among the first lines, less for its form without ``--csv``."""
    head = text.head
    if any(other_page(line) == REPORT for line in head):
        return _CERTAIN
    return _TEXT_PAGE if _is_text_page(head) else 0.0


def read(text: SourceText) -> ReadResult:
    """The hottest lines of every kernel.

    Raises:
        UnrecognizedInput: the page as text, or no source page at all.
        EmptyInput: a page without instructions.
    """
    if _is_text_page(text.head):
        raise UnrecognizedInput(_AS_CSV, path=text.path, line=1)
    page = _Page(text.path)
    for number, line in enumerate(text.lines, 1):
        page.take(number, line)
    page.end_launch()
    if not page.launches:
        raise _nothing(page, text)
    lines = tuple(page.hot.finish())
    table = with_banners(Table(Source(text.path, NAME, "ncu", REPORT), {}, hot_lines=lines), page.banners)
    issues = [*text.issues, *banner_issues(page.banners, text.path), *page.issues]
    if not lines:
        why = "no warp was sampled in any kernel: collect with --section SourceCounters"
        issues.append(Issue(Level.INFO, why, Location(text.path, 1)))
    return ReadResult([table], issues, UnrecognizedInput(_ALONE, path=text.path, line=1))


@dataclass(frozen=True)
class _Heading:
    """Where the columns of one table stand."""

    width: int
    line: int
    address: int
    text: int
    instruction: int
    samples: int
    stalls: tuple[tuple[str, int], ...]


@dataclass
class _Page:
    """Collects the page, launch by launch."""

    path: str
    hot: HotLines = field(default_factory=HotLines)
    banners: list[Banner] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    launches: int = 0
    _kernel: str = ""
    _file: str = ""
    _heading: _Heading | None = None
    _rows: list[tuple[int, list[str]]] = field(default_factory=list)
    _before: tuple[str, list[list[str]]] = ("", [])

    def take(self, number: int, line: str) -> None:
        """Read one line; what is none of the page is passed over."""
        if banner := banner_of(line, number):
            self.banners.append(banner)
            return
        cells = fields(line) if line.startswith('"') else None
        if not cells:
            return
        if cells[0] in (_KERNEL, _FILE) and len(cells) <= 3:
            self._open(*cells[:2])
        elif found := _heading(cells):
            self._heading = found
        elif self._heading is not None:
            if len(cells) == self._heading.width:
                self._rows.append((number, cells))
            elif len(self.issues) < SHOWN:
                text = f"row of {len(cells)} fields where {self._heading.width} are expected: skipped"
                self.issues.append(Issue(Level.DATA_LOSS, text, Location(self.path, number)))

    def _open(self, heading: str, name: str) -> None:
        if heading == _KERNEL:
            self.end_launch()
            self._kernel, self._file, self._heading = name, "", None
        else:
            self._file = PurePath(name.replace("\\", "/")).name

    def end_launch(self) -> None:
        """Take the launch that was read. ncu 2024 and 2025 print each twice; the second time tells nothing."""
        rows = [cells for _, cells in self._rows]
        if not rows or (self._kernel, rows) == self._before:
            self._rows = []
            return
        self._before = self._kernel, rows
        self.launches += 1
        self.hot.open_launch(self._kernel)
        for number, cells in self._rows:
            self._add(number, cells)
        self._rows = []

    def _add(self, number: int, cells: Sequence[str]) -> None:
        heading = self._heading
        if heading is None or heading.samples < 0:
            return
        samples = read_count(cells[heading.samples])
        line = self._line(cells, heading)
        if samples is None or line is None:
            return
        stalls = {name: read_count(cells[place]) or 0 for name, place in heading.stalls}
        self.hot.add(self._kernel, line, samples, stalls, Location(self.path, number, heading.samples + 1))

    def _line(self, cells: Sequence[str], heading: _Heading) -> tuple[str, str, str] | None:
        """View, place and text; instructions below a source line have an address only."""
        number = cells[heading.line] if heading.line >= 0 else ""
        if number.strip().isdigit() and not (heading.address >= 0 and cells[heading.address].startswith("0x")):
            return ("source", f"{self._file}:{number.strip()}" if self._file else number.strip(), cells[heading.text])
        address = cells[heading.address] if heading.address >= 0 else ""
        return ("sass", address, cells[heading.instruction]) if address and heading.instruction >= 0 else None


def _heading(cells: Sequence[str]) -> _Heading | None:
    """The heading of a table of instructions or lines."""
    places: dict[str, int] = {}
    for place, cell in enumerate(cells):
        places.setdefault(cell, place)
    if _SOURCE not in places or not (_ADDRESS in places or any(name in places for name in _LINE)):
        return None
    return _Heading(
        len(cells),
        next((places[name] for name in _LINE if name in places), -1),
        places.get(_ADDRESS, -1),
        places[_SOURCE],
        cells.index(_SOURCE, places[_ADDRESS]) if _SOURCE in cells[places.get(_ADDRESS, len(cells)) :] else -1,
        next((places[name] for name in _SAMPLES if name in places), -1),
        tuple(_stalls(places)),
    )


def _stalls(places: dict[str, int]) -> Iterator[tuple[str, int]]:
    for name, place in places.items():
        if name.startswith(_STALL) and not name.endswith(_NOT_ISSUED):
            yield name.removeprefix(_STALL), place


def _is_text_page(head: Sequence[str]) -> bool:
    return any(
        dashes_of(line) and following.startswith(f"{_KERNEL}  ")
        for line, following in pairwise(head)
    )  # fmt: skip


def _nothing(page: _Page, text: SourceText) -> InputError:
    if error := nothing_printed(page.banners, text.path):
        return error
    if page.issues:
        return EmptyInput("no whole row of the source page", path=text.path, line=page.issues[0].location.line)
    if sniff(text):
        return EmptyInput("a source page without instructions", path=text.path, line=1)
    return UnrecognizedInput(f"no source page of ncu ({text.describe()})", path=text.path, line=1)
