"""Findings of two reports paired by what they are about, and how a saving moved between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nsight_insight.model.comparison import State
    from nsight_insight.model.finding import Finding, Severity

MOVED: Final = 0.25
"""Share by which a saving must change to be called worse or better: savings are estimates, not measurements."""
MATTERS: Final = 0.01
"""Share of the time base by which it must change as well, and which one that comes or goes must have: what is smaller
comes and goes with the noise around the limit from which findings are told (0.5 %)."""
Names = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Known:
    """What identifies a finding and how large it is; of a live report or of a saved one.

    Attributes:
        kernels: names that the other side may know its kernels by.
        single: it is about one kernel.
        share: expected saving over its time base.
        under: title of the finding that explains it, "" where it stands for itself.
        at: its place among the findings of the report, explained ones included.
    """

    rule: str
    fingerprint: str
    device: int
    kernels: frozenset[str]
    single: bool
    share: float
    severity: Severity
    under: str
    at: int


def flat(findings: Sequence[Finding]) -> list[tuple[Finding, str]]:
    """Findings and those they explain, each with the title of the one above it."""
    found = []
    for finding in findings:
        found.append((finding, ""))
        found += [(part, finding.title) for part in finding.explains]
    return found


def known_findings(findings: Sequence[Finding], names: Names | None = None) -> list[Known]:
    """The findings of a report in the order of ``flat``.

    Args:
        findings: of the report.
        names: kernel key -> names of it that both sides share; None where only short names can tell.
    """
    return [_known(finding, under, at, names) for at, (finding, under) in enumerate(flat(findings))]


def _known(finding: Finding, under: str, at: int, names: Names | None) -> Known:
    members = finding.subject.members
    keys = frozenset(member.base for member in members)
    if names is not None:
        keys = frozenset[str]().union(*(names.get(member.key, frozenset({member.key})) for member in members))
    return Known(
        finding.rule, finding.fingerprint, finding.subject.device, keys, bool(finding.subject.kernel),
        finding.saving.share, finding.severity, under, at,
    )  # fmt: skip


def pair(before: Sequence[Known], after: Sequence[Known]) -> list[tuple[Known | None, Known | None]]:
    """Each finding with its like on the other side, the surest first.

    Same fingerprint and kernels; same rule and some kernel in common; same rule where it makes one finding per device
    of whatever kernels it concerns. A finding about one kernel is only paired where the kernels agree.
    """
    left, right = list(before), list(after)
    pairs: list[tuple[Known | None, Known | None]] = []
    for alike in (_identical, _same_kernels, _same_cause):
        for b in list(left):
            found = [a for a in right if alike(b, a)]
            if found:
                # Instances of one template share a fingerprint: the one of about the same size.
                a = min(found, key=lambda one: (abs(one.share - b.share), one.at))
                pairs.append((b, a))
                left.remove(b)
                right.remove(a)
    return [*pairs, *((b, None) for b in left), *((None, a) for a in right)]


def _identical(b: Known, a: Known) -> bool:
    return b.fingerprint == a.fingerprint and b.kernels == a.kernels


def _same_kernels(b: Known, a: Known) -> bool:
    return b.rule == a.rule and b.device == a.device and bool(b.kernels & a.kernels)


def _same_cause(b: Known, a: Known) -> bool:
    return b.rule == a.rule and b.device == a.device and not (b.single and a.single)


def moved(before: float, after: float, base: float, noise: float = 0.0) -> State:
    """How a saving changed that is there on both sides.

    Args:
        before: expected saving, in any unit.
        after: the same of the other side, in this unit.
        base: the time it is a part of, in this unit.
        noise: difference that the noise of times may make, in this unit.
    """
    difference = after - before
    if abs(difference) <= max(MOVED * max(before, after), MATTERS * base, noise):
        return "unchanged"
    return "worse" if difference > 0 else "better"


def small(known: Known) -> bool:
    """Whether a finding is near the limit from which findings are told; notes without a saving are not."""
    return 0 < known.share < MATTERS
