"""How a report stands to an earlier one, in the words that text and Markdown share, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nsight_insight.model.text import clean
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._machine import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nsight_insight.model.baseline import Baseline, Gone, Mark
    from nsight_insight.model.comparison import State
    from nsight_insight.model.finding import Report

Object = dict[str, Any]
_WORDS: Final[dict[State, str]] = {
    "new": "new", "worse": "worse", "better": "better", "unchanged": "unchanged", "fixed": "fixed", "unknown": "open",
}  # fmt: skip
SARIF: Final[dict[State, str]] = {
    "new": "new", "unknown": "new", "worse": "updated", "better": "updated", "unchanged": "unchanged",
}  # fmt: skip
"""SARIF's baselineState; a finding that could not be judged before is not in the baseline, which SARIF calls new."""


def heading(report: Report) -> str:
    """All marks in one sentence, "" without a baseline."""
    baseline = report.baseline
    if baseline is None:
        return ""
    parts = [f"{baseline.count(state)} {word}" for state, word in _WORDS.items() if baseline.count(state)]
    return f"Against {fmt.file_name(baseline.path)}: {', '.join(parts) or 'no finding on either side'}"


def lines(report: Report) -> Iterator[tuple[str, str]]:
    """State and text of each finding that is not unchanged, those of this report by their number."""
    baseline = report.baseline
    if baseline is None:
        return
    for rank, (finding, mark) in enumerate(zip(report.findings, baseline.marks, strict=True), 1):
        if mark.state != "unchanged":
            kernel = f" on {fmt.kernels([finding.subject.kernel], 40)[0]}" if finding.subject.kernel else ""
            yield _WORDS[mark.state], f"{rank}. {finding.title}{kernel}{_moved(mark, finding.saving.share)}"
    for gone in baseline.gone:
        kernel = f" on {fmt.kernels([gone.kernel], 40)[0]}" if gone.kernel else ""
        yield _WORDS[gone.state], f"{gone.title}{kernel} ({gone.note or f'was {fmt.share(gone.share)}'})"


def _moved(mark: Mark, share: float) -> str:
    if mark.note:
        return f" ({mark.note})"
    if mark.share is None:
        return f" ({fmt.share(share)})"
    return f" ({fmt.share(mark.share)} → {fmt.share(share)})"


def mark_object(report: Report, at: int) -> Object:
    """The mark of a finding as plain data; empty without a baseline."""
    if report.baseline is None:
        return {}
    mark = report.baseline.marks[at]
    return {"baseline": {"state": mark.state, "share": number(mark.share), "note": clean(mark.note)}}


def baseline_object(baseline: Baseline | None) -> Object:
    """The baseline as plain data; empty without one."""
    if baseline is None:
        return {}
    return {"baseline": {"file": clean(baseline.path), "gone": [_gone(gone) for gone in baseline.gone]}}


def _gone(gone: Gone) -> Object:
    return {
        "state": gone.state,
        "rule": gone.rule,
        "title": gone.title,
        "severity": gone.severity,
        "kernel": clean(gone.kernel),
        "share": number(gone.share),
        "fingerprint": gone.fingerprint,
        "note": clean(gone.note),
    }
