"""Rules whose subjects the input cannot show: neighbours in a summary, the host side in an ncu profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from nsight_insight.catalog.collect import collect_command
from nsight_insight.model.finding import NotEvaluated
from nsight_insight.rules.needs import needs_of
from nsight_insight.views.facts import KERNEL, SEQUENCE, FactTable

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.rules.model import Rule

NO_ORDER: Final = "needs the order of kernels: a trace, not a summary"
NO_NSYS: Final = "needs an Nsight Systems capture; the input has none"
NO_KERNELS: Final = "no kernel was recorded"


def unseen(
    profile: Profile, rules: Iterable[Rule], views: Mapping[str, FactTable], kernel_ns: float
) -> Iterator[NotEvaluated]:
    """The gap of every such rule; none where no kernel was recorded, which says it all."""
    if not len(views[KERNEL]):
        return
    traced = any(source.tool != "ncu" for source in profile.sources)
    for rule in rules:
        reason = ""
        if rule.scope == SEQUENCE and not len(views[SEQUENCE]):
            reason = NO_ORDER
        elif rule.applies_to.get("tool") == ("nsys",) and not traced:
            reason = NO_NSYS
        if reason:
            needs = needs_of(rule)
            command = collect_command(needs, None, "nsys")
            yield NotEvaluated(rule.id, rule.title, needs, reason, len(views[KERNEL]), kernel_ns, command)


def without_kernels(rules: Iterable[Rule]) -> Iterator[NotEvaluated]:
    """The gap of every rule where no kernel was recorded; a trace comes first, it says which kernels there are."""
    needs = ("duration", "start")
    command = collect_command(needs, None, "nsys")
    for rule in rules:
        yield NotEvaluated(rule.id, rule.title, needs, NO_KERNELS, 0, 0.0, command)
