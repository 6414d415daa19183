"""Findings held against what a second capture shows: the saving they promised, and the metrics that should move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nsight_insight._version import __version__
from nsight_insight.comparison import Side, matched, measure_of, run_of
from nsight_insight.comparison.changes import floor_of, kernel_change, unknown, wall_change
from nsight_insight.comparison.comparable import cautions
from nsight_insight.comparison.expectations import Subject, expectation
from nsight_insight.comparison.findings import Judged, finding_changes, shared_names
from nsight_insight.comparison.noise import judged
from nsight_insight.model.comparison import Change, FindingChange
from nsight_insight.model.verification import Expectation, Outcome, Verification, Verifications

if TYPE_CHECKING:
    from nsight_insight.comparison import Matched
    from nsight_insight.comparison.matching import Pairing
    from nsight_insight.model.finding import Finding
    from nsight_insight.rules.model import Rule

LOWER: Final = 0.5
"""Part of the expected saving that must be there for it to be confirmed, as in the score of the rules."""
KERNELS: Final = "its kernels"
MOST: Final = 0.5
"""Part of the time of matched kernels that the finding must be about for their change to be its own."""


def verify(before: Side, after: Side, rules: Mapping[str, Rule], steps: tuple[int, int] | None = None) -> Verifications:
    """Hold every finding of the side before against the side after.

    Args:
        before: the capture before the change, with its report.
        after: the capture after it.
        rules: rule id -> rule, for what each expects to move.
        steps: as of ``compare``.
    """
    both = matched(before, after, steps)
    checker = _Checker(both, Judged.of(before.report, both.before, shared_names(both)[0]))
    changes = {id(change.before): change for change in finding_changes(before.report, after.report, both)}
    wall = wall_change(both.before, both.after) if both.unit == "step" else None
    kernel = kernel_change(both.before, both.after) if both.unit else None
    found = [
        checker.check(finding, rules.get(finding.rule), changes.get(id(finding))) for finding in before.report.findings
    ]
    return Verifications(
        version=__version__,
        before=run_of(both.before, both.unit),
        after=run_of(both.after, both.unit),
        unit=both.unit,
        reason=both.reason,
        overall=wall or kernel,
        measure=measure_of(wall, kernel),
        findings=tuple(found),
        cautions=cautions(both.before, both.after, both.pairings, both.unit),
    )


@dataclass(frozen=True)
class _Checker:
    both: Matched
    judged: Judged

    def check(self, finding: Finding, rule: Rule | None, change: FindingChange | None) -> Verification:
        low, high = self._predicted(finding)
        pairings = self._pairings(finding)
        time, about = self._time(finding, pairings)
        subject = Subject(self.both, tuple(pairings), finding.subject.device)
        expected = tuple(expectation(one, subject, finding.subject.scope) for one in rule.verify) if rule else ()
        outcome, reason = _outcome(time, (low, high), expected, own=about == KERNELS)
        difference = time.difference
        return Verification(
            rule=finding.rule, title=finding.title, kernel=finding.subject.kernel, outcome=outcome, expected=low,
            upper=high, measured=None if difference is None else -difference, least=time.least, about=about,
            reason=reason, state=change.state if change else "unknown", expectations=expected,
            fingerprint=finding.fingerprint,
        )  # fmt: skip

    def _predicted(self, finding: Finding) -> tuple[float, float]:
        """Smallest expected and largest upper saving per unit, of the finding and of its remedies."""
        savings = [finding.saving, *(one.saving for one in finding.remedies if one.saving and one.saving.expected_ns)]
        scale = self._scale(finding)
        return min(one.expected_ns for one in savings) * scale, max(one.upper_ns for one in savings) * scale

    def _scale(self, finding: Finding) -> float:
        saving = finding.saving
        return self.judged.saving(finding) / saving.expected_ns if saving.expected_ns else 0.0

    def _pairings(self, finding: Finding) -> list[Pairing]:
        """Matched kernels that are mostly the finding's."""
        keys = {member.key for member in finding.subject.members}
        found = []
        for pairing in self.both.pairings:
            own = sum(kernel.total for kernel in pairing.before if kernel.key in keys)
            if own and own >= MOST * sum(kernel.total for kernel in pairing.before):
                found.append(pairing)
        return found

    def _time(self, finding: Finding, pairings: Sequence[Pairing]) -> tuple[Change, str]:
        """How the time that the finding is about changed, and what that time is."""
        before, after = self.both.before, self.both.after
        if not self.both.unit:
            return unknown(None, None, self.both.reason), ""
        if finding.subject.members:
            return self._kernels(pairings)
        wall = wall_change(before, after) if self.both.unit == "step" else None
        return (wall, "the step") if wall else (kernel_change(before, after), "all kernels")

    def _kernels(self, pairings: Sequence[Pairing]) -> tuple[Change, str]:
        before, after = self.both.before, self.both.after
        if not pairings:
            return unknown(None, None, "its kernels are matched with others that take more time"), KERNELS
        ours = [kernel for pairing in pairings for kernel in pairing.before]
        theirs = [kernel for pairing in pairings for kernel in pairing.after]
        launches = sum(kernel.count(before.divisor) for kernel in ours)
        own = judged(before.sum_of(ours), after.sum_of(theirs), floor_of(before, after, "part"), launches)
        if all(pairing.after for pairing in pairings) or all(pairing.before for pairing in self.both.pairings):
            return own, KERNELS
        # Kernels that are gone may do their work under names that are new: then only the sum of all tells.
        whole = kernel_change(before, after)
        return (whole, "all kernels") if (whole.difference or 0.0) > (own.difference or 0.0) else (own, KERNELS)


def _moved(expectations: Sequence[Expectation], *, own: bool) -> bool:
    """Whether the metrics bear the saving out: one as predicted; for its own kernels, not all the other way."""
    known = [one.movement for one in expectations if one.movement != "unknown"]
    if own:
        return not known or any(movement != "other way" for movement in known)
    return "as predicted" in known


def _outcome(
    time: Change, promised: tuple[float, float], expectations: Sequence[Expectation], *, own: bool
) -> tuple[Outcome, str]:
    """The outcome, and why it is not simply confirmed.

    Args:
        time: of what the finding is about.
        promised: smallest expected and largest possible saving.
        expectations: what should have moved.
        own: the time is that of the finding's own kernels; otherwise other changes may have shortened it, too.
    """
    difference, least, expected = time.difference, time.least, promised[0]
    if difference is None or least is None:
        return "unknown", time.reason
    if expected <= 0:
        return "unknown", "it promised no saving of time"
    saved = -difference
    if saved > least:
        if saved < LOWER * expected:
            return "partly", "less than half of what was expected"
        if not _moved(expectations, own=own):
            return "partly", "the time fell, but what the finding is about did not move as predicted"
        more = "more than promised: other changes may have a part in it"
        return "confirmed", "" if own or saved <= promised[1] + least else more
    if saved < -least:
        return "refuted", "it takes longer now"
    if least <= LOWER * expected:
        return "refuted", "nothing moved that noise does not explain: not applied, or of no help"
    return "unknown", "the saving would be within the noise"
