"""Tables of ``nsys stats --format csv``: one file per report, or everything on standard output.

Tables are found by their headings anywhere in the text, so banners, blank lines and program output around them do
no harm; columns are found by heading, never by position. See ``catalog/nsys_reports.yaml`` for the reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from nsight_insight.catalog.nsys_reports import fitting_reports
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult, Source, Table
from nsight_insight.readers._nsys_banners import Banner, banner_issues, missing_data, parse_banner
from nsight_insight.readers._nsys_scan import TIME_UNITS, Block, Scan, heading_of, other_format, scan
from nsight_insight.readers._nsys_table import READER, build_table, report_of
from nsight_insight.readers.text import SourceText

NAME: Final = READER
LARGE_BYTES: Final = 16 << 20
"""Above this pandas' C engine reads the cells; below, the standard library is quicker to start."""
_CERTAIN: Final = 0.95
_BANNERS_ONLY: Final = 0.5
_OTHER: Final = 0.2
_UNKNOWN: Final = 0.15
_HINT: Final = re.compile(r"\((?:ns|us|ms|s|%|MB)\)|^SKIPPED: ", re.MULTILINE)
_MAX_BANNERS: Final = 40
_ADVICE: Final = "run nsys stats with --format csv"


def sniff(text: SourceText) -> float:
    """0.95 where a table of nsys is in the text, less for its banners or its other formats."""
    best = 0.0
    for line in _suspects(text):
        headings = heading_of(line)
        if fitting_reports(headings):
            return _CERTAIN
        if any(item.unit in TIME_UNITS for item in headings):
            best = max(best, _UNKNOWN)
        banner = parse_banner(line, 1)
        if banner and banner.kind == "skipped":
            best = max(best, _BANNERS_ONLY)
        elif other_format(line):
            best = max(best, _OTHER)
    return best


def _suspects(text: SourceText) -> Iterator[str]:
    """Lines that may tell: the first ones, then those further down that hold a unit or a banner."""
    yield from text.head
    content = text.text
    for found in _HINT.finditer(content):
        start = content.rfind("\n", 0, found.start()) + 1
        end = content.find("\n", found.start())
        yield content[start : end if end >= 0 else len(content)].rstrip("\r")


def read(text: SourceText) -> ReadResult:
    """Every table of the text.

    Raises:
        EmptyInput: nsys had nothing to report, or only reports that are not analysed.
        UnrecognizedInput: no table of nsys in CSV form.
    """
    found = scan(text.lines)
    result = ReadResult(issues=[*text.issues, *banner_issues(found.banners, text.path)])
    for block in found.blocks:
        _read_block(block, text, result)
    result.tables = [_with_banners(table, found.banners) for table in result.tables]
    _note_unread(found, text.path, result)
    if not any(len(table) for table in result.tables):
        raise _nothing(found, result, text)
    return result


def _read_block(block: Block, text: SourceText, result: ReadResult) -> None:
    report = report_of(block)
    place = Location(text.path, block.line)
    if not report.kind:
        result.issues.append(Issue(Level.INFO, f"{report.name} is not analysed", place))
        result.tables.append(Table(Source(text.path, NAME, "nsys", report.name, block.version), {}))
        return
    table, issues = build_table(block, report, text.path, large=len(text.data) > LARGE_BYTES)
    if not block.records and not block.bad:
        issues.append(Issue(Level.INFO, f"{report.name}: empty report", place))
    result.tables.append(table)
    result.issues.extend(issues)


def _with_banners(table: Table, banners: Sequence[Banner]) -> Table:
    worth_showing = (banner.text for banner in banners if banner.kind not in ("report", "progress"))
    shown = tuple(dict.fromkeys(worth_showing))[:_MAX_BANNERS]
    return replace(table, source=replace(table.source, banners=shown)) if shown else table


def _note_unread(found: Scan, path: str, result: ReadResult) -> None:
    for line, headings in found.unknown:
        names = ", ".join(heading.text for heading in headings)
        text = f"table of an unknown report left out; headings: {names}"
        result.issues.append(Issue(Level.DATA_LOSS, text, Location(path, line)))
    if found.other_format:
        text = f"a table of another format than CSV was left out; {_ADVICE}"
        result.issues.append(Issue(Level.DATA_LOSS, text, Location(path, found.other_format)))


def _nothing(found: Scan, result: ReadResult, text: SourceText) -> EmptyInput | UnrecognizedInput:
    """The error for a text without a single row."""
    if result.tables or any(banner.kind == "skipped" for banner in found.banners):
        reports = ", ".join(dict.fromkeys(table.source.report for table in result.tables))
        lacking = ", ".join(dict.fromkeys(missing_data(b) for b in found.banners if b.kind == "skipped"))
        parts = [f"nothing to analyse in {reports}"] if reports else []
        parts += [f"nsys found no data for: {lacking}"] if lacking else []
        if not (found.unknown or found.other_format):
            return EmptyInput("; ".join(parts), path=text.path, line=found.blocks[0].line if found.blocks else None)
    if found.other_format:
        message = f"tables of nsys, but not as CSV: {_ADVICE}"
        return UnrecognizedInput(message, path=text.path, line=found.other_format)
    if found.unknown:
        line, headings = found.unknown[0]
        names = ", ".join(heading.text for heading in headings)
        return UnrecognizedInput(f"no known report of nsys has these headings: {names}", path=text.path, line=line)
    return UnrecognizedInput(f"no table of nsys ({text.describe()})", path=text.path, line=1)
