"""Savings compose: what all findings together could save, never more than there is.

On one kernel the largest saving per resource counts, and resources multiply what remains
(``1 - prod(1 - x)``); over kernels savings add up; findings about the whole device add on top, and
the sum never exceeds the time base (domain rule: Amdahl per kernel, then over the step).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsight_insight.model.finding import Finding, Saving

Key = tuple[int, str]


def compose(findings: Sequence[Finding], base_ns: float) -> Saving:
    """The composed bound of all findings over a time base in ns."""
    expected, upper = _composed(findings, 0), _composed(findings, 1)
    device = [finding for finding in findings if not finding.subject.members]
    expected += sum(_largest_per_resource(device, 0))
    upper += sum(_largest_per_resource(device, 1))
    expected, upper = min(expected, base_ns), min(upper, base_ns)
    assumptions = tuple(dict.fromkeys(text for finding in findings for text in finding.saving.assumptions))
    return Saving(
        expected_ns=expected,
        upper_ns=upper,
        share=expected / base_ns if base_ns > 0 else 0.0,
        resource="all",
        basis="largest saving per resource and kernel; resources multiply what remains; kernels add up",
        assumptions=assumptions,
    )


def _composed(findings: Iterable[Finding], which: int) -> float:
    """Sum over kernels of time times one minus the product of what each resource leaves."""
    times: dict[Key, float] = {}
    parts: dict[Key, dict[str, float]] = {}
    for finding in findings:
        for member in finding.subject.members:
            key = (member.device, member.key)
            times[key] = max(times.get(key, 0.0), member.time_ns)
            saved = (member.expected_ns, member.upper_ns)[which]
            resources = parts.setdefault(key, {})
            resources[finding.saving.resource] = max(resources.get(finding.saving.resource, 0.0), saved)
    total = 0.0
    for key, resources in parts.items():
        remaining = 1.0
        for saved in resources.values():
            remaining *= 1.0 - min(1.0, saved / times[key]) if times[key] > 0 else 1.0
        total += times[key] * (1.0 - remaining)
    return total


def _largest_per_resource(findings: Sequence[Finding], which: int) -> list[float]:
    largest: dict[tuple[int, str], float] = {}
    for finding in findings:
        key = (finding.subject.device, finding.saving.resource)
        saved = (finding.saving.expected_ns, finding.saving.upper_ns)[which]
        largest[key] = max(largest.get(key, 0.0), saved)
    return list(largest.values())
