"""Which rules a profile can be judged by, and what the others lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from nsight_insight.catalog.collect import collect_command
from nsight_insight.model.finding import NotEvaluated
from nsight_insight.model.inspection import RuleStatus, Verdict
from nsight_insight.rules.engine import outcomes_of
from nsight_insight.rules.gaps import gaps_of
from nsight_insight.rules.needs import needs_of
from nsight_insight.views.facts import KERNEL, SEQUENCE

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.rules.evaluate import Outcome
    from nsight_insight.rules.model import Rule
    from nsight_insight.views.build import Views

NO_ORDER: Final = "needs the order of kernels: a trace, not a summary"
NO_NSYS: Final = "needs an Nsight Systems capture; the input has none"
NO_KERNELS: Final = "no kernel was recorded"
NOTHING: Final = "nothing in the input is of its kind"


def coverage(
    profile: Profile, rules: Mapping[str, Rule], views: Views
) -> tuple[tuple[RuleStatus, ...], tuple[NotEvaluated, ...]]:
    """The status of every rule, by id, and the gaps, the one on the most time first."""
    outcomes = {outcome.rule.id: outcome for outcome in outcomes_of(profile, rules.values(), views)}
    kernel_ns = float(views[KERNEL].time.sum()) * 1e9
    gaps = gaps_of(outcomes.values(), rules.values(), profile, views, kernel_ns)
    gaps += _without_subjects(profile, rules, views, kernel_ns)
    reasons = {gap.rule: gap.reason for gap in gaps}
    statuses = [_status(rule, outcomes.get(rule.id), reasons.get(rule.id), kernel_ns) for rule in rules.values()]
    return tuple(sorted(statuses, key=lambda status: status.rule)), tuple(gaps)


def _without_subjects(
    profile: Profile, rules: Mapping[str, Rule], views: Views, kernel_ns: float
) -> Iterator[NotEvaluated]:
    """Rules whose subjects the input cannot show: neighbours in a summary, the host side in an ncu profile."""
    if not len(views[KERNEL]):
        yield from _without_kernels(rules)
        return
    traced = any(source.tool != "ncu" for source in profile.sources)
    for rule in rules.values():
        reason = ""
        if rule.scope == SEQUENCE and not len(views[SEQUENCE]):
            reason = NO_ORDER
        elif rule.applies_to.get("tool") == ("nsys",) and not traced:
            reason = NO_NSYS
        if reason:
            needs = needs_of(rule)
            command = collect_command(needs, None, "nsys")
            yield NotEvaluated(rule.id, rule.title, needs, reason, len(views[KERNEL]), kernel_ns, command)


def _without_kernels(rules: Mapping[str, Rule]) -> Iterator[NotEvaluated]:
    """A trace comes first: it says which kernels there are to measure."""
    needs = ("duration", "start")
    command = collect_command(needs, None, "nsys")
    for rule in rules.values():
        yield NotEvaluated(rule.id, rule.title, needs, NO_KERNELS, 0, 0.0, command)


def _status(rule: Rule, outcome: Outcome | None, lacks: str | None, kernel_ns: float) -> RuleStatus:
    if outcome is None or not outcome.applies.any():
        verdict: Verdict = "nothing" if lacks is None else "lacking"
        return RuleStatus(rule.id, rule.title, verdict, lacks or NOTHING)
    judged = outcome.applies & ~outcome.unknown
    share = float(outcome.table.time[judged].sum()) * 1e9 / kernel_ns if kernel_ns else 0.0
    if lacks is None:
        return RuleStatus(rule.id, rule.title, "judged", "", min(share, 1.0))
    return RuleStatus(rule.id, rule.title, "partly" if judged.any() else "lacking", lacks, min(share, 1.0))
