"""The report for a terminal or a log: the most important things first, readable at 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from nsight_insight.model.finding import Report
    from nsight_insight.reporters._layout import Page
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "text"
EXTENSIONS: Final = (".txt",)
DETAILED: Final = 5
"""Findings told in full unless ``top`` says otherwise; the others get a line each."""
WIDTHS: Final = (60, 120)
"""Narrower than this nothing can be laid out, wider than this nobody reads."""


def render(report: Report, options: RenderOptions) -> str:
    """The report as text; ANSI colours only when ``options.color``."""
    from nsight_insight.reporters import _accounts, _layout, _overview, _vendor

    low, high = WIDTHS
    page = _layout.Page(min(max(options.width, low), high), options.verbose)
    blocks = [
        _overview.header(report, page),
        _overview.where_time_goes(report, page),
        _overview.device_lines(report, page),
        _accounts.ledger_lines(report, page),
        _accounts.tensor_lines(report, page),
        _overview.summary(report, page),
        _baseline(report, page),
        _what_if(report, page, options),
        *_findings(report, page, options),
        _overview.not_judged(report, page),
        _overview.issue_lines(report.issues, page),
        _vendor.vendor_lines(report, page),
        _overview.hint(report, page),
    ]
    lines: list[Text] = []
    for block in blocks:
        if block and lines:
            lines.append(_layout.styled(""))
        lines += block
    return _layout.to_string(lines, color=options.color, unicode=options.unicode)


def _baseline(report: Report, page: Page) -> list[Text]:
    """How findings stand to those of an earlier report; empty without one."""
    from nsight_insight.reporters import _baseline, _layout

    head = _baseline.heading(report)
    lines = _layout.wrap(_layout.styled((head, "title")), page.width) if head else []
    for state, text in _baseline.lines(report):
        line = _layout.styled((f"{state:<8}", "label"), text)
        lines += _layout.indented(_layout.wrap(line, page.width - 2, 8), 2)
    return lines


def _what_if(report: Report, page: Page, options: RenderOptions) -> list[Text]:
    """The time line with the assumed findings fixed; empty where none were asked for."""
    from nsight_insight.reporters import _layout, _what_if

    if not options.assume:
        return []
    found = report.what_if(*options.assume)
    lines = _layout.wrap(_layout.styled((_what_if.heading(found), "title")), page.width)
    for text in _what_if.lines(found, report, verbose=page.verbose):
        lines += _layout.indented(_layout.wrap(_layout.styled(text), page.width - 2, 2), 2)
    return lines


def _findings(report: Report, page: Page, options: RenderOptions) -> list[list[Text]]:
    from nsight_insight.reporters._devices import titled
    from nsight_insight.reporters._finding import finding_lines, one_line

    full = options.top or (len(report.findings) if options.verbose else DETAILED)
    ranked = list(enumerate((titled(finding, report) for finding in report.findings), 1))
    blocks = [
        finding_lines(finding, rank, report.totals.kernel_ns, page, options.framework)
        for rank, finding in ranked[:full]
    ]
    if len(ranked) > full:
        blocks.append([one_line(finding, rank, page) for rank, finding in ranked[full:]])
    return blocks


def render_sections(title: str, sections: Sequence[tuple[str, Sequence[str]]], options: RenderOptions) -> str:
    """A titled list of labelled paragraphs in the report's own style.

    Lines that begin with a blank are kept as they are (code, tables); others are wrapped.
    """
    from rich.text import Text

    from nsight_insight.reporters import _layout

    low, high = WIDTHS
    page = _layout.Page(min(max(options.width, low), high))
    lines = _layout.wrap(_layout.styled((title, "title")), page.width)
    for label, paragraphs in sections:
        body: list[Text] = []
        hang = 2 if len(paragraphs) > 1 else 0
        for paragraph in paragraphs:
            kept = paragraph.startswith(" ")
            body += [Text(paragraph)] if kept else _layout.wrap(Text(paragraph), page.body, hang)
        lines += _layout.labelled(label, body)
    return _layout.to_string(lines, color=options.color, unicode=options.unicode)
