"""Which rules a profile can be judged by, and what the others lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from nsight_insight.model.finding import NotEvaluated
from nsight_insight.model.inspection import RuleStatus, Verdict
from nsight_insight.rules.engine import outcomes_of
from nsight_insight.rules.gaps import gaps_of
from nsight_insight.rules.unseen import unseen, without_kernels
from nsight_insight.views.facts import KERNEL

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.rules.evaluate import Outcome
    from nsight_insight.rules.model import Rule
    from nsight_insight.views.build import Views

NOTHING: Final = "nothing in the input is of its kind"


def coverage(
    profile: Profile, rules: Mapping[str, Rule], views: Views
) -> tuple[tuple[RuleStatus, ...], tuple[NotEvaluated, ...]]:
    """The status of every rule, by id, and the gaps, the one on the most time first."""
    outcomes = {outcome.rule.id: outcome for outcome in outcomes_of(profile, rules.values(), views)}
    kernel_ns = float(views[KERNEL].time.sum()) * 1e9
    gaps = gaps_of(outcomes.values(), rules.values(), profile, views, kernel_ns)
    gaps += unseen(profile, rules.values(), views, kernel_ns)
    gaps += [] if len(views[KERNEL]) else without_kernels(rules.values())
    reasons = {gap.rule: gap.reason for gap in gaps}
    statuses = [_status(rule, outcomes.get(rule.id), reasons.get(rule.id), kernel_ns) for rule in rules.values()]
    return tuple(sorted(statuses, key=lambda status: status.rule)), tuple(gaps)


def _status(rule: Rule, outcome: Outcome | None, lacks: str | None, kernel_ns: float) -> RuleStatus:
    if outcome is None or not outcome.applies.any():
        verdict: Verdict = "nothing" if lacks is None else "lacking"
        return RuleStatus(rule.id, rule.title, verdict, lacks or NOTHING)
    judged = outcome.applies & ~outcome.unknown
    share = float(outcome.table.time[judged].sum()) * 1e9 / kernel_ns if kernel_ns else 0.0
    if lacks is None:
        return RuleStatus(rule.id, rule.title, "judged", "", min(share, 1.0))
    return RuleStatus(rule.id, rule.title, "partly" if judged.any() else "lacking", lacks, min(share, 1.0))
