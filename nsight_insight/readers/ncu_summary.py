"""Tables of ``ncu --csv --print-summary``: launches of a kernel merged into minimum, maximum and average.

Per kernel, per GPU and per NVTX range; details and raw pages; 2020 to 2026. What the rows mean: ``_ncu_summary``.
"""

from __future__ import annotations

from typing import Final

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._ncu_banners import SHOWN, Banner, banner_issues, banner_of, nothing_printed, with_banners
from nsight_insight.readers._ncu_layout import fields, other_page
from nsight_insight.readers._ncu_summary import REPORT, build_summary
from nsight_insight.readers._ncu_summary_page import SummaryTable, heading_of
from nsight_insight.readers.text import SourceText

NAME: Final = "ncu_summary"
_CERTAIN: Final = 0.9
_SHIFTED: Final = (
    "the rows do not fit the heading: ncu leaves out their first cells and moves the rest (a bug of 2020 to 2024 in "
    "--page raw --print-summary per-gpu); print it with --page details, or give the raw page without --print-summary"
)

_DOMAINS: Final = (
    "ncu merges launches for each NVTX domain by itself: one inside ranges of several domains is counted in each"
)


def sniff(text: SourceText) -> float:
    """0.9 where a heading of a summary is among the first lines."""
    return _CERTAIN if any(other_page(line) == REPORT for line in text.head) else 0.0


def read(text: SourceText) -> ReadResult:
    """One row per kernel, shape and, where the page tells them apart, device or NVTX range.

    Raises:
        UnrecognizedInput: rows that do not fit their heading, numbers that can be read in two ways, or no summary.
        EmptyInput: a summary without kernels.
    """
    tables, banners, damage = _collect(text)
    result = ReadResult(issues=[*text.issues, *banner_issues(banners, text.path)])
    for found in tables:
        place = Location(text.path, found.heading.line)
        if found.shifted:
            raise UnrecognizedInput(_SHIFTED, path=text.path, line=place.line)
        if not len(found):
            continue
        table, lost = build_summary(found.pages(), text.path, NAME)
        result.tables.append(with_banners(table, banners))
        result.issues += lost
        if len(found.domains) > 1:
            result.issues.append(Issue(Level.INFO, _DOMAINS, place))
    if not result.tables:
        raise _nothing(bool(tables), banners, text)
    result.issues += damage
    return result


def _collect(text: SourceText) -> tuple[list[SummaryTable], list[Banner], list[Issue]]:
    tables: list[SummaryTable] = []
    banners: list[Banner] = []
    damage: list[Issue] = []
    for number, line in enumerate(text.lines, 1):
        if banner := banner_of(line, number):
            banners.append(banner)
            continue
        cells = fields(line) if line.startswith('"') else None
        if not cells:
            continue
        if heading := heading_of(number, cells):
            tables.append(SummaryTable(heading))
        elif tables and not tables[-1].add(number, cells) and len(damage) < SHOWN:
            text_of = f"row of {len(cells)} fields that is none of the summary: skipped"
            damage.append(Issue(Level.DATA_LOSS, text_of, Location(text.path, number)))
    return tables, banners, damage


def _nothing(headed: bool, banners: list[Banner], text: SourceText) -> InputError:
    if error := nothing_printed(banners, text.path):
        return error
    if headed:
        return EmptyInput("a summary without kernels", path=text.path, line=1)
    return UnrecognizedInput(f"no summary of ncu ({text.describe()})", path=text.path, line=1)
