"""Every table of nsys in a text, whatever forms it is printed in: the work of the readers for CSV and for text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from nsight_insight.catalog.nsys_reports import load_reports
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.numbers import AmbiguousNumbers, Style
from nsight_insight.model.profile import ReadResult, Source, Table
from nsight_insight.readers._nsys_banners import Banner, banner_issues, missing_data
from nsight_insight.readers._nsys_forms import find_grids
from nsight_insight.readers._nsys_grid import Grid, common_style
from nsight_insight.readers._nsys_rules import limit_issue, rule_finding
from nsight_insight.readers._nsys_scan import Block, Scan, scan
from nsight_insight.readers._nsys_table import build_table, report_of
from nsight_insight.readers._nsys_text_scan import READER, Grids, Section
from nsight_insight.readers.text import SourceText

LARGE_BYTES: Final = 16 << 20
"""Above this pandas' C engine reads the cells; below, the standard library is quicker to start."""
_MAX_BANNERS: Final = 40
_ADVICE: Final = "run nsys stats with --format csv"
_ELLIPSIS: Final = "\u2026"


@dataclass
class _Contents:
    """What was found in a text.

    Attributes:
        blocks: tables in the order of the text.
        sections: rules of ``nsys analyze`` by the line of their table, or by their own where they have none.
        styles: notation of the numbers in the printed tables, by line.
    """

    scan: Scan
    blocks: list[Block]
    sections: dict[int, Section] = field(default_factory=dict)
    styles: dict[int, Style] = field(default_factory=dict)


def read_tables(text: SourceText) -> ReadResult:
    """Every table of the text.

    Raises:
        EmptyInput: nsys had nothing to report, or only reports that are not analysed.
        UnrecognizedInput: no table of nsys.
    """
    grids, rest = find_grids(text)
    found = scan(rest)
    found.unknown += grids.unknown
    result = ReadResult(issues=[*text.issues, *banner_issues(found.banners, text.path)])
    contents = _contents(found, grids, text.path, result)
    for block in contents.blocks:
        _read_block(block, contents, text, result)
    _add_sections(contents, text.path, result)
    result.tables = [_with_banners(table, found.banners) for table in result.tables]
    _note_unread(found, text.path, result)
    if not any(len(table) or table.vendor for table in result.tables):
        raise _nothing(contents, result, text)
    return result


def read_grid(grid: Grid, text: SourceText) -> ReadResult:
    """The one table of an input that is no text.

    Raises:
        EmptyInput: it has no rows, or its report is not analysed.
    """
    result = ReadResult(issues=list(text.issues))
    contents = _Contents(Scan(), [grid.block(Style.PLAIN)])
    _read_block(contents.blocks[0], contents, text, result)
    if not len(result.tables[0]):
        raise _nothing(contents, result, text)
    return result


def _contents(found: Scan, grids: Grids, path: str, result: ReadResult) -> _Contents:
    styles = dict(_styles(grids.grids, path, result))
    printed = [grid.block(styles[grid.line]) for grid in grids.grids if grid.line in styles]
    blocks = sorted([*found.blocks, *printed], key=lambda block: block.line)
    sections = {section.grid.line if section.grid else section.line: section for section in grids.sections}
    return _Contents(found, blocks, sections, styles)


def _styles(grids: Sequence[Grid], path: str, result: ReadResult) -> Iterator[tuple[int, Style]]:
    """Notation of each table by its line; one that does not tell has that of the others."""
    for grid in grids:
        try:
            yield grid.line, grid.style()
        except AmbiguousNumbers as error:
            style = common_style(grids)
            if style is not None:
                yield grid.line, style
            else:
                text = f"table left out, its numbers can be read in two ways: {error}"
                result.issues.append(Issue(Level.DATA_LOSS, text, Location(path, grid.line)))


def _read_block(block: Block, contents: _Contents, text: SourceText, result: ReadResult) -> None:
    report = report_of(block)
    place = Location(text.path, block.line)
    if not report.kind:
        if not report.rule:
            advice = f": {report.advice}" if report.advice else ""
            result.issues.append(Issue(Level.INFO, f"{report.name} is not analysed{advice}", place))
        table = Table(Source(text.path, block.reader, "nsys", report.name, block.version), {})
    else:
        table, issues = build_table(block, report, text.path, large=len(text.data) > LARGE_BYTES)
        if not block.records and not block.bad:
            issues.append(Issue(Level.INFO, f"{report.name}: empty report", place))
        result.issues.extend([*issues, *_cut_names(table, place)])
    section = contents.sections.pop(block.line, None)
    if section is not None:
        table.vendor = [rule_finding(section, text.path, contents.styles[block.line])]
        limit = limit_issue(section, text.path)
        result.issues += [limit] if limit else []
    result.tables.append(table)


def _cut_names(table: Table, place: Location) -> Iterator[Issue]:
    """Names that nsys cut for its column form: kernels that differ behind the cut look the same."""
    names = table.columns["name"][table.columns["kind"] == Kind.KERNEL.value] if len(table) else np.array([])
    cut = sum(str(name).endswith(_ELLIPSIS) for name in names)
    if cut:
        text = f"{table.source.report}: {cut} kernel name{'s are' if cut > 1 else ' is'} cut; {_ADVICE} for whole names"
        yield Issue(Level.INFO, text, place)


def _add_sections(contents: _Contents, path: str, result: ReadResult) -> None:
    """Rules of ``nsys analyze`` that found nothing."""
    for section in contents.sections.values():
        if section.grid is None and any(section.prose):
            finding = rule_finding(section, path, Style.PLAIN)
            result.tables.append(Table(Source(path, READER, "nsys", section.rule), {}, vendor=[finding]))


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
        text = f"a table that cannot be read was left out; {_ADVICE}"
        result.issues.append(Issue(Level.DATA_LOSS, text, Location(path, found.other_format)))


def _nothing(contents: _Contents, result: ReadResult, text: SourceText) -> EmptyInput | UnrecognizedInput:
    """The error for a text without a single row."""
    found, blocks = contents.scan, contents.blocks
    if result.tables or any(banner.kind == "skipped" for banner in found.banners):
        reports = ", ".join(dict.fromkeys(table.source.report for table in result.tables))
        lacking = ", ".join(dict.fromkeys(missing_data(b) for b in found.banners if b.kind == "skipped"))
        parts = [f"nothing to analyse in {reports}"] if reports else []
        known = load_reports()
        parts += dict.fromkeys(a for table in result.tables if (a := known[table.source.report].advice))
        parts += [f"nsys found no data for: {lacking}"] if lacking else []
        if not (found.unknown or found.other_format):
            return EmptyInput("; ".join(parts), path=text.path, line=blocks[0].line if blocks else None)
    if found.other_format:
        message = f"a table of nsys that cannot be read: {_ADVICE}"
        return UnrecognizedInput(message, path=text.path, line=found.other_format)
    if found.unknown:
        line, headings = found.unknown[0]
        names = ", ".join(heading.text for heading in headings)
        return UnrecognizedInput(f"no known report of nsys has these headings: {names}", path=text.path, line=line)
    return UnrecognizedInput(f"no table of nsys ({text.describe()})", path=text.path, line=1)
