"""Findings followed from one capture to the other: fixed, new, worse, better, unchanged, or not judged on one side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nsight_insight.comparison.changes import change_of
from nsight_insight.comparison.pairing import Known, Names, flat, known_findings, moved, pair, small
from nsight_insight.model.comparison import FindingChange, State
from nsight_insight.views.facts import SEQUENCE

if TYPE_CHECKING:
    from nsight_insight.comparison import Matched
    from nsight_insight.comparison.capture import Capture
    from nsight_insight.comparison.matching import Pairing
    from nsight_insight.model.finding import Finding, Report

_ORDER: Final[dict[State, int]] = {"new": 0, "worse": 1, "unknown": 2, "fixed": 3, "better": 4, "unchanged": 5}
UNJUDGED: Final = 0.05
"""Part of the kernel time on which a rule may lack data without its silence being doubted."""


@dataclass(frozen=True)
class Judged:
    """One side: its report, its measured capture, and its findings as ``pairing`` knows them."""

    report: Report
    capture: Capture
    known: list[Known]
    findings: list[Finding]

    @classmethod
    def of(cls, report: Report, capture: Capture, names: Names) -> Judged:
        """The side, kernels named as both sides name them."""
        findings = [finding for finding, _ in flat(report.findings)]
        return cls(report, capture, known_findings(report.findings, names), findings)

    def saving(self, finding: Finding) -> float:
        """Expected saving per unit of the comparison, ns."""
        totals, saving = self.report.totals, finding.saving
        steady, steps = totals.steady_window_ns, totals.steady_steps
        if saving.base_ns is not None and steady and steps and abs(saving.base_ns - steady) < 1:
            return saving.expected_ns / steps
        scale = self.capture.kernel_time().value / totals.kernel_ns if totals.kernel_ns else 0.0
        return saving.expected_ns * scale

    def lacked(self, rule: str, scope: str) -> str:
        """Why this side cannot say that a rule has nothing to report; "" where it can."""
        if not self.report.rules_evaluated:
            return "nothing could be judged"
        if scope == SEQUENCE and not self.capture.sequence:
            return "the order of kernels is not known"
        gaps = [gap for gap in self.report.not_evaluated if gap.rule == rule]
        whole = self.report.totals.kernel_ns
        serious = [gap for gap in gaps if whole <= 0 or gap.time_ns > UNJUDGED * whole]
        return serious[0].reason if serious else ""


def finding_changes(before: Report, after: Report, both: Matched) -> list[FindingChange]:
    """Every finding of both reports, by what happened to it and how much it would save."""
    names = shared_names(both)
    ours, theirs = Judged.of(before, both.before, names[0]), Judged.of(after, both.after, names[1])
    found = [
        _change(b, a, ours, theirs, both)
        for b, a in pair(ours.known, theirs.known)
        if any(one is not None and not one.under for one in (b, a))
    ]
    return sorted(
        found, key=lambda one: (_ORDER[one.state], -max(one.saving_before or 0, one.saving_after or 0), one.rule)
    )


def shared_names(both: Matched) -> tuple[Names, Names]:
    """Kernel key -> a name of its pairing that both sides use, for the side before and for the side after."""
    ours: dict[str, frozenset[str]] = {}
    theirs: dict[str, frozenset[str]] = {}
    for pairing in both.pairings:
        name = frozenset({shared_name(pairing)})
        ours.update({kernel.key: name for kernel in pairing.before})
        theirs.update({kernel.key: name for kernel in pairing.after})
    return ours, theirs


def shared_name(pairing: Pairing) -> str:
    """A name of matched kernels, after those before where there are any."""
    return "|".join(sorted(kernel.key for kernel in pairing.before or pairing.after))


def _change(b: Known | None, a: Known | None, ours: Judged, theirs: Judged, both: Matched) -> FindingChange:
    before = ours.findings[b.at] if b else None
    after = theirs.findings[a.at] if a else None
    state, note = _state(b, a, ours, theirs, both)
    known = a or b
    shown = after or before
    if known is None or shown is None:
        raise ValueError("a pair has at least one side")
    unit = bool(both.unit)
    return FindingChange(
        state, known.rule, shown.title, known.severity, shown.subject.kernel,
        ours.saving(before) if unit and before else None, theirs.saving(after) if unit and after else None,
        before, after, note,
    )  # fmt: skip


def _state(b: Known | None, a: Known | None, ours: Judged, theirs: Judged, both: Matched) -> tuple[State, str]:
    if b and a:
        note = f"stands under {a.under!r} now" if a.under and not b.under else ""
        state = _moved(b, a, ours, theirs, both)
        if not both.unit and state != "unchanged":
            return "unknown", "its part of the whole changed, but the wholes cannot be compared"
        return state, note
    known, other, side = (b, theirs, "after") if b else (a, ours, "before")
    if known is None:
        raise ValueError("a pair has at least one side")
    scope = (ours if b else theirs).findings[known.at].subject.scope
    if reason := other.lacked(known.rule, scope):
        return "unknown", f"could not be judged {side}: {reason}"
    if small(known):
        return "unchanged", "near the limit from which findings are told"
    if _as_before(known, both):
        return "unchanged", "its kernels take as long as before; only their part of the whole changed"
    return ("fixed" if b else "new"), ""


def _as_before(known: Known, both: Matched) -> bool:
    """Whether a finding's kernels are on both sides and take the same time: then its rule only sees other shares."""
    if not known.kernels:
        return False
    own = [pairing for pairing in both.pairings if shared_name(pairing) in known.kernels]
    return bool(own) and all(
        pairing.before
        and pairing.after
        and change_of(both.before, both.after, pairing, both.unit).time.verdict == "same"
        for pairing in own
    )


def _moved(b: Known, a: Known, ours: Judged, theirs: Judged, both: Matched) -> State:
    if not both.unit:
        return moved(b.share, a.share, 1.0)
    base = max(side.capture.kernel_time().value for side in (ours, theirs))
    return moved(ours.saving(ours.findings[b.at]), theirs.saving(theirs.findings[a.at]), base)
