"""Tables that ``ncu`` prints with ``--csv``: the raw and the details page, of a report or of a live run.

Tables are found by their heading anywhere in the text, so progress lines, warnings and the program's own output around
and between the records do no harm. Every generation of headings since 2019 is read; see ``_ncu_layout``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._ncu_banners import SHOWN, Banner, banner_issues, nothing_printed, with_banners
from nsight_insight.readers._ncu_layout import DETAILS, MARK, Layout, heading_of, other_page
from nsight_insight.readers._ncu_long import LongPage
from nsight_insight.readers._ncu_scan import Damage, OtherPage, Record, scan
from nsight_insight.readers._ncu_table import build_table
from nsight_insight.readers._ncu_wide import WidePage
from nsight_insight.readers.text import SourceText

NAME: Final = "ncu_csv"
_CERTAIN: Final = 0.95
_OTHER: Final = 0.6
_PROGRESS: Final = 0.3
_BINARY: Final = (b"NVR\x00", b"SQLite format 3")
_PROGRESS_LINE: Final = re.compile(r"^==(?:PROF|WARNING|ERROR)== ", re.MULTILINE)
_SUSPECTS: Final = 50
_EXPORT: Final = "export the raw page: ncu --import REPORT --csv --page raw"
_ELSEWHERE: Final = "give the report (-o) or the log (--log-file) that it was written to"
_OTHER_PAGES: Final = {
    "source": "ncu's source page lists instructions, not launches",
    "session": "ncu's session page describes the run, not its launches",
    "summary": "ncu's summary (--print-summary) merges launches into minimum, maximum and average",
}


def sniff(text: SourceText) -> float:
    """0.95 where a table of launches is in the text, less for ncu's other pages and for its bare progress lines."""
    if text.magic.startswith(_BINARY):
        return 0.0
    for line in _suspects(text):
        if heading_of(line, 1):
            return _CERTAIN
        if other_page(line):
            return _OTHER
    return _PROGRESS if _PROGRESS_LINE.search(text.text) else 0.0


def _suspects(text: SourceText) -> Iterator[str]:
    """Lines that may be headings: those with the words all headings share, then the first ones of the text."""
    content = text.text
    at = content.find(MARK)
    for _ in range(_SUSPECTS):
        if at < 0:
            break
        end = content.find("\n", at)
        end = len(content) if end < 0 else end
        yield content[content.rfind("\n", 0, at) + 1 : end].rstrip("\r")
        at = content.find(MARK, end)
    yield from text.head


@dataclass
class _Found:
    """What a scan turned up."""

    pages: list[WidePage | LongPage] = field(default_factory=list)
    banners: list[Banner] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    others: list[OtherPage] = field(default_factory=list)


def read(text: SourceText) -> ReadResult:
    """Every table of launches in the text.

    Raises:
        EmptyInput: ncu ran and profiled nothing, or failed.
        UnrecognizedInput: another page of ncu, numbers that can be read in two ways, or nothing of ncu at all.
    """
    found = _collect(text)
    result = ReadResult(issues=[*text.issues, *banner_issues(found.banners, text.path)])
    refused: list[InputError] = []
    for page in found.pages:
        try:
            _add_page(page, text, result)
        except InputError as error:
            refused.append(error)
    result.tables = [with_banners(table, found.banners) for table in result.tables]
    if not result.tables:
        raise refused[0] if refused else _nothing(found, text)
    place = (Issue(Level.DATA_LOSS, error.text, Location(text.path, error.line)) for error in refused)
    result.issues += [*place, *_damage_issues(found.damage, text.path), *_other_issues(found.others, text.path)]
    return result


def _collect(text: SourceText) -> _Found:
    found = _Found()
    for event in scan(text.lines):
        if isinstance(event, Record):
            if not found.pages[-1].add(event):
                found.damage.append(Damage(event.line, "a second row of units"))
        elif isinstance(event, Layout):
            found.pages.append(LongPage(event) if event.page == DETAILS else WidePage(event))
        elif isinstance(event, Banner):
            found.banners.append(event)
        elif isinstance(event, Damage):
            found.damage.append(event)
        else:
            found.others.append(event)
    return found


def _add_page(builder: WidePage | LongPage, text: SourceText, result: ReadResult) -> None:
    page = builder.finish()
    if not len(page):
        place = Location(text.path, page.line)
        result.issues.append(Issue(Level.INFO, "a heading without launches", place))
        return
    table, issues = build_table(page, text.path, NAME)
    result.tables.append(table)
    result.issues.extend(issues)


def _damage_issues(damage: Sequence[Damage], path: str) -> list[Issue]:
    issues = [Issue(Level.DATA_LOSS, f"{item.text}: skipped", Location(path, item.line)) for item in damage[:SHOWN]]
    if len(damage) > SHOWN:
        text = f"{len(damage) - SHOWN} more damaged records skipped, {len(damage)} in all"
        issues.append(Issue(Level.DATA_LOSS, text, Location(path, damage[SHOWN].line)))
    return issues


def _other_issues(others: Sequence[OtherPage], path: str) -> list[Issue]:
    first = {other.page: other.line for other in reversed(others)}
    return [Issue(Level.INFO, f"{page} page left out", Location(path, line)) for page, line in first.items()]


def _nothing(found: _Found, text: SourceText) -> InputError:
    """The error for a text without a single launch."""
    path = text.path
    if found.others:
        first = found.others[0]
        return UnrecognizedInput(f"{_OTHER_PAGES[first.page]}: {_EXPORT}", path=path, line=first.line)
    if found.damage:
        first_bad = found.damage[0]
        return EmptyInput(f"no whole record: {first_bad.text}", path=path, line=first_bad.line)
    if error := nothing_printed(found.banners, path):
        return error
    if found.pages:
        return EmptyInput("a heading without launches", path=path, line=found.pages[0].layout.line)
    if progress := _PROGRESS_LINE.search(text.text):
        line = text.text.count("\n", 0, progress.start()) + 1
        return EmptyInput(f"progress of ncu, but no table: {_ELSEWHERE}, or {_EXPORT}", path=path, line=line)
    return UnrecognizedInput(f"no table of ncu ({text.describe()})", path=path, line=1)
