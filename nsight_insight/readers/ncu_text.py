"""What ``ncu`` prints without ``--csv``: the details and the raw page as text, of a report or of a live run.

Pages are found by the lines that open launches, so the program's own output, progress, shell prompts and the like
around them do no harm. ``--print-summary`` pages are read as well; see ``_ncu_summary`` for what they mean.
"""

from __future__ import annotations

from typing import Final

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._ncu_banners import banner_issues, nothing_printed, with_banners
from nsight_insight.readers._ncu_summary import REPORT as SUMMARY
from nsight_insight.readers._ncu_summary import build_summary
from nsight_insight.readers._ncu_table import build_table
from nsight_insight.readers._ncu_text_lines import launch_of
from nsight_insight.readers._ncu_text_page import TextPage
from nsight_insight.readers._ncu_text_scan import Scan
from nsight_insight.readers.text import SourceText

NAME: Final = "ncu_text"
_CERTAIN: Final = 0.9
_QUERY: Final = 0.5
_MARKS: Final = (", Context ", ", Invocations ")
_SUSPECTS: Final = 50
_QUERY_HEADING: Final = ("Metric Name", "Metric Description")


def sniff(text: SourceText) -> float:
    """0.9 where a line opens a launch, less for the list of metrics that users take for a profile."""
    content = text.text
    for mark in _MARKS:
        at = content.find(mark)
        for _ in range(_SUSPECTS):
            if at < 0:
                break
            end = content.find("\n", at)
            end = len(content) if end < 0 else end
            if launch_of(content[content.rfind("\n", 0, at) + 1 : end].rstrip("\r")):
                return _CERTAIN
            at = content.find(mark, end)
    return _QUERY if _metric_list(text) else 0.0


def read(text: SourceText) -> ReadResult:
    """Every launch of the text.

    Raises:
        EmptyInput: ncu ran and profiled nothing, or failed.
        UnrecognizedInput: numbers that can be read in two ways, a list of metrics, or nothing of ncu at all.
    """
    scan = Scan(text.path)
    scan.read(text.lines)
    result = ReadResult(issues=[*text.issues, *banner_issues(scan.banners, text.path)])
    refused: list[InputError] = []
    for page in scan.pages:
        try:
            _add_page(page, text.path, result)
        except InputError as error:
            refused.append(error)
    if not result.tables:
        raise refused[0] if refused else _nothing(scan, text)
    result.tables = [with_banners(table, scan.banners) for table in result.tables]
    result.issues += [Issue(Level.DATA_LOSS, error.text, Location(text.path, error.line)) for error in refused]
    result.issues += scan.damage
    return result


def _add_page(page: TextPage, path: str, result: ReadResult) -> None:
    first, *rest = page.pages()
    if page.report == SUMMARY:
        table, issues = build_summary((first, *rest), path, NAME)
    else:
        table, issues = build_table(first, path, NAME)
    result.tables.append(table)
    result.issues += issues


def _metric_list(text: SourceText) -> bool:
    return any(
        line.split("  ")[0] == _QUERY_HEADING[0] and line.rstrip().endswith(_QUERY_HEADING[1]) for line in text.head
    )


def _nothing(scan: Scan, text: SourceText) -> InputError:
    """The error for a text without a single launch."""
    if error := nothing_printed(scan.banners, text.path):
        return error
    if scan.damage:
        first = scan.damage[0]
        return EmptyInput(first.text, path=text.path, line=first.location.line)
    if _metric_list(text):
        why = "a list of the metrics that ncu can collect (--query-metrics), not a profile"
        return UnrecognizedInput(why, path=text.path, line=1)
    return UnrecognizedInput(f"no page of ncu ({text.describe()})", path=text.path, line=1)
