"""NVIDIA's own findings beside ours, for people: counts, what overlaps, and the weightiest of each kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nsight_insight.model.finding import Report
    from nsight_insight.model.vendor import VendorMatch, VendorState

ADVICE: Final = frozenset({"OPT", "WRN"})
"""Kinds of NVIDIA's results that ask for a change."""
GLOBAL: Final = "global"
STATES: Final[Mapping[VendorState, str]] = {
    "agrees": "ours agrees",
    "refines": "ours is finer",
    "contradicted": "contradicted",
    "vendor-only": "theirs alone",
}


@dataclass(frozen=True)
class Group:
    """Findings of one rule of NVIDIA's that ours sees in the same way; ``lead`` weighs most."""

    state: VendorState
    rule: str
    matches: tuple[VendorMatch, ...]

    @property
    def lead(self) -> VendorMatch:
        """The one with the largest estimate of the profile's time."""
        return max(self.matches, key=weight)

    @property
    def weight(self) -> float:
        """Time that NVIDIA's estimates of the group speak of, ns; estimates for a unit count nothing."""
        return sum(weight(match) for match in self.matches)


def weight(match: VendorMatch) -> float:
    """NVIDIA's estimate of the run time in ns of the profile."""
    finding = match.finding
    return (finding.estimated_speedup or 0.0) * match.time_ns if finding.scope == GLOBAL else 0.0


def advice(report: Report) -> tuple[VendorMatch, ...]:
    """Matches of the findings that ask for a change."""
    return tuple(match for match in report.vendor_matches if match.finding.kind in ADVICE)


def groups(report: Report) -> list[Group]:
    """Groups of the findings with advice, agreement first, then by the time they speak of."""
    found: dict[tuple[VendorState, str], list[VendorMatch]] = {}
    for match in advice(report):
        found.setdefault((match.state, match.finding.rule), []).append(match)
    made = [Group(state, rule, tuple(matches)) for (state, rule), matches in found.items()]
    order = list(STATES)
    return sorted(made, key=lambda group: (order.index(group.state), -group.weight, group.rule))


def counted(report: Report) -> str:
    """``of which 194 ask for a change: ours agrees with 12, contradicts 166``."""
    matches = advice(report)
    states = Counter(match.state for match in matches)
    parts = [
        f"ours agrees with {states['agrees']}" if states["agrees"] else "",
        f"names more for {states['refines']}" if states["refines"] else "",
        f"contradicts {states['contradicted']}" if states["contradicted"] else "",
        f"has no counterpart for {states['vendor-only']}" if states["vendor-only"] else "",
    ]
    said = ", ".join(filter(None, parts))
    said = said if said.startswith("ours") or not said else f"ours {said}"
    return f"of which {len(matches):,} ask for a change: {said}" if matches else "none of which asks for a change"


def overlapping(report: Report) -> str:
    """On how many launches NVIDIA's estimates of the run time add up to more than all of it; "" for none."""
    sums: defaultdict[int, float] = defaultdict(float)
    for match in report.vendor_matches:
        finding = match.finding
        if finding.row is not None and finding.scope == GLOBAL:
            sums[finding.row] += finding.estimated_speedup or 0.0
    more = sum(total > 1.0 for total in sums.values())
    if not more:
        return ""
    launches = fmt.count(len(sums), "launch")
    return f"never added to the savings above: on {more} of {launches} their estimates add up to more than all of it"


def line(group: Group, name: str) -> str:
    """``LaunchConfiguration 13x, up to 97 % of a kernel: why``; ``name`` is the lead's kernel, "" for none."""
    lead = group.lead
    facts = [f"{len(group.matches)}x"] if len(group.matches) > 1 else []
    facts += [name] if name else []
    if lead.finding.estimated_speedup is not None:
        of = "the kernel" if lead.finding.scope == GLOBAL else "a unit's use, not of the time"
        facts.append(f"their estimate {fmt.share(lead.finding.estimated_speedup)} of {of}")
    head = f"{fmt.flow(group.rule)} ({', '.join(facts)})" if facts else fmt.flow(group.rule)
    reasons = _reason(lead)
    return f"{head}: {reasons}" if reasons else head


def _reason(match: VendorMatch) -> str:
    ours = match.rules[0] if match.rules else ""
    if ours and ours not in match.reason:
        return f"{ours}; {match.reason}" if match.reason else ours
    return fmt.flow(match.reason)


def top(found: Sequence[Group], number: int) -> list[Group]:
    """The weightiest groups, in their order."""
    chosen = sorted(found, key=lambda group: -group.weight)[:number]
    return [group for group in found if group in chosen]
