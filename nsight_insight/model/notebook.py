"""Reports, findings and profiles as small HTML for notebooks: escaped, without scripts and without the network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from nsight_insight.model.text import clean, duration, percent

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.model.profile import Profile

SHOWN: Final = 10
"""Rows of a table: a cell of a notebook is no report."""
NAME: Final = 100
"""Characters of a kernel's name."""


def report_html(report: Report) -> str:
    """Totals, and a row for each of the largest findings."""
    totals = report.totals
    head = f"{_ns(totals.kernel_ns)} of GPU kernel time in {totals.launches:,} launches of {totals.kernels:,} kernels"
    gpus = ", ".join(report.devices) or "GPU unknown"
    found = report.findings
    together = f"{len(found)} findings, about {_ns(report.potential.expected_ns)} ({percent(report.potential.share)})"
    rows = [
        (str(rank), one.title, one.subject.kernel[:NAME], _ns(one.saving.expected_ns), percent(one.saving.share),
         one.confidence, one.rule)
        for rank, one in enumerate(found[:SHOWN], 1)
    ]  # fmt: skip
    table = _table(("", "finding", "kernel", "saves about", "share", "confidence", "rule"), rows)
    more = f"<p>{len(found) - SHOWN} more</p>" if len(found) > SHOWN else ""
    open_ = f"<p>{len(report.not_evaluated)} rules lacked data</p>" if report.not_evaluated else ""
    return _block(_text("strong", f"{head} ({gpus})"), _text("p", together if found else "no findings"),
                  table if rows else "", more, open_)  # fmt: skip


def finding_html(finding: Finding) -> str:
    """One finding with its evidence and what to do."""
    saving = finding.saving
    saves = f"saves about {_ns(saving.expected_ns)} ({percent(saving.share)}), at most {_ns(saving.upper_ns)}"
    return _block(
        _text("strong", finding.title),
        _text("p", f"{saves}; {finding.severity}, {finding.confidence} confidence; {finding.rule}"),
        _text("p", finding.message),
        _list((part.text for part in finding.evidence), "evidence"),
        _list((remedy.title for remedy in finding.remedies), "what to do"),
    )


def profile_html(profile: Profile) -> str:
    """What was read: a row per table."""
    rows = [
        (source.path.replace("\\", "/").rpartition("/")[2], f"{source.tool} {source.report}", source.version,
         f"{source.rows:,}")
        for source in profile.sources[:SHOWN]
    ]  # fmt: skip
    gpus = ", ".join(device.name or "unknown" for device in profile.devices) or "not named"
    head = f"{len(profile.activities):,} activities; GPU: {gpus}"
    more = f"<p>{len(profile.sources) - SHOWN} more tables</p>" if len(profile.sources) > SHOWN else ""
    lost = f"<p>{len(profile.issues)} remarks on the input: see .issues</p>" if profile.issues else ""
    return _block(_text("strong", head), _table(("file", "table", "release", "rows"), rows), more, lost)


def _ns(time: float) -> str:
    return duration(time / 1e9)


def _block(*parts: str) -> str:
    return f"<div>{''.join(filter(None, parts))}</div>"


def _text(tag: str, text: str) -> str:
    return f"<{tag}>{escape(clean(text))}</{tag}>"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(_text("th", heading) for heading in headings)
    body = "".join(f"<tr>{''.join(_text('td', cell) for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _list(texts: Iterable[str], title: str) -> str:
    items = "".join(_text("li", text) for text in texts)
    return f"<p>{escape(title)}</p><ul>{items}</ul>" if items else ""
