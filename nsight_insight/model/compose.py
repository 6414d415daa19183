"""Savings compose: what several findings together could save, never more than there is.

On one kernel the largest saving per resource counts, and resources multiply what remains
(``1 - prod(1 - x)``); over kernels savings add up; findings about the whole device add on top, and
the sum never exceeds the time base (domain rule: Amdahl per kernel, then over the step). Findings about idle
time add up, as their parts of it are disjoint, to at most the idle time, and those about copies to at most the
copies' time; both then belong to the base.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from nsight_insight.model.finding import Finding, Saving

Key = tuple[int, str]
EXPECTED: Final = 0
UPPER: Final = 1


@dataclass(frozen=True)
class Parts:
    """Times of the three parts of a time base, ns."""

    kernels: float
    idle: float
    copies: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.kernels + self.idle + self.copies


def compose(findings: Sequence[Finding], base_ns: float, idle_ns: float = 0.0, copy_ns: float = 0.0) -> Saving:
    """The composed bound of all findings.

    Args:
        findings: what was found.
        base_ns: kernel time.
        idle_ns: idle time that findings with a base of their own (the steady window) can save from.
        copy_ns: time of copies, which findings about copies can save from.
    """
    there = Parts(base_ns, idle_ns, copy_ns)
    expected, upper = (saved(findings, there, which).total for which in (EXPECTED, UPPER))
    base = base_of(findings, there)
    assumptions = tuple(dict.fromkeys(text for finding in findings for text in finding.saving.assumptions))
    return Saving(
        expected_ns=expected,
        upper_ns=upper,
        share=expected / base.total if base.total > 0 else 0.0,
        resource="all",
        basis="largest saving per resource and kernel; resources multiply what remains; kernels add up",
        assumptions=assumptions,
        base_ns=base.total if any(map(_has_own_base, findings)) else None,
    )


def saved(findings: Sequence[Finding], there: Parts, which: int) -> Parts:
    """What the findings save of each part of ``there``: ``which`` is EXPECTED or UPPER."""
    own = [finding for finding in findings if _has_own_base(finding)]
    device = [finding for finding in findings if not finding.subject.members and finding.saving.base_ns is None]
    copies = _largest_per_resource([finding for finding in own if _of_copies(finding)], which)
    return Parts(
        kernels=min(_composed(findings, which) + sum(_largest_per_resource(device, which)), there.kernels),
        idle=min(sum(_saved(finding, which) for finding in own if not _of_copies(finding)), there.idle),
        copies=min(sum(copies), there.copies),
    )


def base_of(findings: Iterable[Finding], there: Parts) -> Parts:
    """The time base of the findings: kernels, and idle time and copies where findings save from them."""
    own = [_of_copies(finding) for finding in findings if _has_own_base(finding)]
    return Parts(there.kernels, there.idle if False in own else 0.0, there.copies if True in own else 0.0)


def _has_own_base(finding: Finding) -> bool:
    """True of findings about idle time and copies; one about kernels saves from their time, whatever its base."""
    return finding.saving.base_ns is not None and not finding.subject.members and finding.saving.expected_ns > 0


def _of_copies(finding: Finding) -> bool:
    return finding.category == "transfer" and finding.saving.resource != "host"


def _composed(findings: Iterable[Finding], which: int) -> float:
    """Sum over kernels of time times one minus the product of what each resource leaves."""
    times: dict[Key, float] = {}
    parts: dict[Key, dict[str, float]] = {}
    for finding in findings:
        for member in finding.subject.members:
            key = (member.device, member.key)
            times[key] = max(times.get(key, 0.0), member.time_ns)
            saved_ns = (member.expected_ns, member.upper_ns)[which]
            resources = parts.setdefault(key, {})
            resources[finding.saving.resource] = max(resources.get(finding.saving.resource, 0.0), saved_ns)
    total = 0.0
    for key, resources in parts.items():
        remaining = 1.0
        for saved_ns in resources.values():
            remaining *= 1.0 - min(1.0, saved_ns / times[key]) if times[key] > 0 else 1.0
        total += times[key] * (1.0 - remaining)
    return total


def _largest_per_resource(findings: Sequence[Finding], which: int) -> list[float]:
    largest: dict[tuple[int, str], float] = {}
    for finding in findings:
        key = (finding.subject.device, finding.saving.resource)
        largest[key] = max(largest.get(key, 0.0), _saved(finding, which))
    return list(largest.values())


def _saved(finding: Finding, which: int) -> float:
    return (finding.saving.expected_ns, finding.saving.upper_ns)[which]
