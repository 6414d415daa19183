"""NVIDIA's own findings beside ours, launch by launch: agreed, refined, contradicted, or theirs alone.

NVIDIA's estimates are shares of a kernel's time (``global``) or of a unit's use (``local``); they overlap and are never
added to our savings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from nsight_insight.catalog.vendor_rules import readings_of
from nsight_insight.model.finding import Finding
from nsight_insight.model.text import percent
from nsight_insight.model.vendor import VendorMatch
from nsight_insight.rules.vendor_objections import GLOBAL, Facts, objection_to
from nsight_insight.rules.vendor_silence import why_silent
from nsight_insight.rules.vendor_subjects import SubjectFinder, Subjects, kernel_key
from nsight_insight.views.facts import LAUNCH, TRACE

if TYPE_CHECKING:
    from nsight_insight.model.profile import VendorFinding
    from nsight_insight.rules.evaluate import Outcome
    from nsight_insight.views.build import Views

ADVICE: Final = frozenset({"OPT", "WRN"})
"""Kinds of NVIDIA's results that ask for a change."""
SAME: Final = (0.5, 1.1)
"""An estimate between half of what we expect and 1.1 times our upper bound says the same, as in the proof's scores."""
UNLISTED: Final = "found too, but it saves too little to be listed"
NS: Final = 1e9


def vendor_matches(
    findings: Sequence[VendorFinding],
    views: Views,
    outcomes: Mapping[str, Outcome],
    told: Sequence[Finding],
    listed: Sequence[Finding],
) -> tuple[VendorMatch, ...]:
    """One match per finding of NVIDIA's, in their order.

    Args:
        findings: NVIDIA's.
        views: facts they are compared with.
        outcomes: rule id -> what our rules found.
        told: our findings, folded, small ones included.
        listed: those that the report lists.
    """
    if not findings:
        return ()
    judge = _Judge(views, outcomes, told, listed)
    return tuple(judge.match(finding) for finding in findings)


class _Judge:
    def __init__(
        self, views: Views, outcomes: Mapping[str, Outcome], told: Sequence[Finding], listed: Sequence[Finding]
    ) -> None:
        self.views, self.outcomes, self.finder = views, outcomes, SubjectFinder(views)
        self.causes = _causes(told)
        self.listed = {place for finding in listed for place in _places(finding)}

    def match(self, finding: VendorFinding) -> VendorMatch:
        """Our view of one finding of NVIDIA's."""
        subjects = self.finder.of(finding)
        bare = VendorMatch(finding, "vendor-only", time_ns=self._time(subjects))
        if finding.kind not in ADVICE:
            return replace(bare, reason="a statement, no advice")
        readings = readings_of(finding.rule, finding.text)
        same = tuple(dict.fromkeys(rule for reading in readings for rule in reading.same))
        finer = tuple(dict.fromkeys(rule for reading in readings for rule in reading.finer))
        shared = self._shared(bare, same, subjects)
        if shared is not None and shared.reason != UNLISTED:
            return shared
        return (
            self._behind(bare, finer, subjects)
            or shared
            or self._objected(bare, subjects)
            or self._judged_alone(bare, same, subjects)
            or replace(bare, reason=self._why_alone([reading.note for reading in readings], same, subjects))
        )

    def _shared(self, bare: VendorMatch, same: Iterable[str], subjects: Subjects) -> VendorMatch | None:
        """A rule of ours on the same mechanism fired on the same launch."""
        for rule in same:
            subject = self._fired(rule, subjects)
            if subject is None:
                continue
            found = self._with_shares(replace(bare, rules=(rule,)), rule, subject)
            place = self._place(rule, subject)
            if place in self.causes:
                cause = self.causes[place]
                return replace(found, state="refines", rules=(cause, rule), reason=f"a consequence of {cause}")
            if place not in self.listed:
                return replace(found, state="agrees", reason=UNLISTED)
            return _compared(found)
        return None

    def _behind(self, bare: VendorMatch, finer: Sequence[str], subjects: Subjects) -> VendorMatch | None:
        """A listed rule of ours that names a cause behind it."""
        causes: list[tuple[float, str, int]] = []
        for rule in self.outcomes:
            if not any(fnmatchcase(rule, pattern) for pattern in finer):
                continue
            subject = self._fired(rule, subjects)
            if subject is not None and self._place(rule, subject) in self.listed:
                causes.append((float(self.outcomes[rule].expected[subject]), rule, subject))
        if not causes:
            return None
        _, rule, subject = max(causes)
        found = self._with_shares(replace(bare, state="refines", rules=(rule,)), rule, subject)
        return replace(found, reason=_numbers(found, "ours names the cause"))

    def _objected(self, bare: VendorMatch, subjects: Subjects) -> VendorMatch | None:
        facts = {
            scope: Facts(self.views[scope], found[0], bare.finding.estimated_speedup)
            for scope in (LAUNCH, TRACE)
            if (found := subjects.in_scope(scope))
        }
        objection = objection_to(bare.finding, facts)
        if objection is None:
            return None
        return replace(bare, state=objection[0].state, reason=objection[1])

    def _judged_alone(self, bare: VendorMatch, same: Iterable[str], subjects: Subjects) -> VendorMatch | None:
        """A rule of ours looked at the same launch, and was silent or lacked data."""
        for rule in same:
            outcome = self.outcomes.get(rule)
            here = subjects.in_scope(outcome.table.scope) if outcome else ()
            if outcome is None or not here:
                continue
            subject = here[0]
            if not outcome.applies[subject]:
                continue
            if outcome.unknown[subject]:
                return replace(bare, rules=(rule,), reason=f"{rule} could not be judged: {_lacks(outcome)}")
            return replace(bare, state="contradicted", rules=(rule,), reason=why_silent(outcome, subject))
        return None

    def _why_alone(self, notes: Sequence[str], same: Sequence[str], subjects: Subjects) -> str:
        if not same:
            return next(filter(None, notes), "no counterpart")
        if not any(subjects.of.values()):
            return f"{same[0]} finds nothing to judge here"
        asked = [rule for rule in same if rule in self.outcomes]
        return f"{asked[0]} does not apply here" if asked else f"{same[0]} was not asked"

    def _fired(self, rule: str, subjects: Subjects) -> int | None:
        outcome = self.outcomes.get(rule)
        if outcome is None:
            return None
        return next((s for s in subjects.in_scope(outcome.table.scope) if outcome.fired[s]), None)

    def _with_shares(self, match: VendorMatch, rule: str, subject: int) -> VendorMatch:
        outcome = self.outcomes[rule]
        time = float(outcome.table.time[subject])
        if outcome.table.scope == TRACE or time <= 0:
            return match
        return replace(
            match, expected=float(outcome.expected[subject]) / time, upper=float(outcome.upper[subject]) / time
        )

    def _place(self, rule: str, subject: int) -> tuple[str, int, str]:
        table = self.outcomes[rule].table
        return rule, int(table.devices[subject]), kernel_key(table, subject)

    def _time(self, subjects: Subjects) -> float:
        found = subjects.in_scope(LAUNCH)
        return float(self.views[LAUNCH].time[found[0]]) * NS if found else 0.0


def _causes(told: Sequence[Finding]) -> dict[tuple[str, int, str], str]:
    """Rule, device and kernel of every folded finding -> the rule it is folded under."""
    return {place: cause.rule for cause in told for folded in cause.explains for place in _places(folded)}


def _places(finding: Finding) -> list[tuple[str, int, str]]:
    members = finding.subject.members
    if not members:
        return [(finding.rule, finding.subject.device, "")]
    return [(finding.rule, member.device, member.key) for member in members]


def _compared(match: VendorMatch) -> VendorMatch:
    """Agreement where the numbers agree or NVIDIA gives none for the run time."""
    estimate = match.finding.estimated_speedup
    if estimate is None or match.finding.scope != GLOBAL or match.expected is None or match.upper is None:
        return replace(match, state="agrees", reason=_numbers(match, ""))
    low, high = SAME
    agrees = low * match.expected <= estimate <= high * match.upper
    return replace(
        match, state="agrees" if agrees else "refines", reason=_numbers(match, "" if agrees else "another saving")
    )


def _numbers(match: VendorMatch, words: str) -> str:
    if match.expected is None or match.upper is None:
        return words
    ours = f"ours: {percent(match.expected)} of the kernel, at most {percent(match.upper)}"
    return f"{words}; {ours}" if words else ours


def _lacks(outcome: Outcome) -> str:
    return f"the input lacks {', '.join(sorted(outcome.gaps)[:3])}" if outcome.gaps else "the input lacks data"
