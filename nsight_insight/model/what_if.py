"""The time line if some findings were fixed: what is left, what is then largest, and what no longer pays.

The composition is that of ``Report.potential``: assuming everything saves the potential, assuming nothing saves
nothing, and what is assumed more never makes the time longer. Two things make a remaining finding smaller: another one
has taken the same time already, and a GPU that finishes sooner waits for the host for a larger part of the step (above
one half of the steady window, savings of kernel time are scaled by the rest; domain rule, as in ``rules.host_bound``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from nsight_insight.model.compose import EXPECTED, UPPER, Parts, base_of, saved
from nsight_insight.model.text import percent

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, Report

ALL: Final = "all"
HOST_LIMIT: Final = 0.5
"""Share of the steady window from which the host is what limits."""
GPU_SIDE: Final = frozenset({"math", "memory", "latency", "occupancy", "work"})
"""Resources whose relief shortens kernels."""
WORTH: Final = 0.005
"""Share of the time base below which a saving no longer pays, as the report's own limit."""
LESS: Final = 0.95
"""A saving below this part of what it was needs an explanation."""


@dataclass(frozen=True)
class Remaining:
    """A finding that was not assumed to be fixed.

    Attributes:
        expected_ns: what it saves beyond the assumed ones.
        upper_ns: the same, at most.
        pays: whether that is still worth it.
        reason: why it saves less than alone, "" where it does not.
    """

    finding: Finding
    expected_ns: float
    upper_ns: float
    pays: bool
    reason: str = ""


@dataclass(frozen=True)
class WhatIf:
    """Times of the profile in ns before and after.

    Attributes:
        patterns: what was asked for.
        unmatched: patterns that no finding of the report matches.
        assumed: findings taken to be fixed.
        base_ns: time now: kernels, and idle time and copies where findings save from them.
        expected_ns: time after, as expected.
        best_ns: time after, at best.
        parts: the time now, by part.
        expected_parts: the time after as expected, by part.
        remaining: what was not assumed, largest first by expected saving and confidence.
        host_share: part of the steady window in which the GPU waits for the host, now and (at least) then; None
            unknown.
    """

    patterns: tuple[str, ...]
    unmatched: tuple[str, ...]
    assumed: tuple[Finding, ...]
    base_ns: float
    expected_ns: float
    best_ns: float
    parts: Parts
    expected_parts: Parts
    remaining: tuple[Remaining, ...]
    host_share: tuple[float, float] | None = None

    @property
    def largest(self) -> Remaining | None:
        """What pays most afterwards; None where nothing does."""
        return next((left for left in self.remaining if left.pays), None)

    @property
    def faded(self) -> tuple[Remaining, ...]:
        """What pays now and would no longer."""
        return tuple(
            left
            for left in self.remaining
            if not left.pays and left.reason and left.finding.saving.expected_ns >= WORTH * self.base_ns > 0
        )


def what_if(report: Report, *patterns: str) -> WhatIf:
    """The report's time line with some of its findings fixed.

    Args:
        report: what was found; findings it does not list cannot be assumed.
        patterns: rule ids, shell patterns, or ``all``.
    """
    globs = tuple(dict.fromkeys("*" if pattern == ALL else pattern for pattern in patterns))
    fixed = [any(fnmatchcase(finding.rule, glob) for glob in globs) for finding in report.findings]
    assumed = [finding for finding, chosen in zip(report.findings, fixed, strict=True) if chosen]
    others = [finding for finding, chosen in zip(report.findings, fixed, strict=True) if not chosen]
    there = Parts(report.totals.kernel_ns, report.totals.idle_ns, report.totals.copy_ns or 0.0)
    base = base_of(report.findings, there)
    expected, best = (_after(base, saved(assumed, there, which)) for which in (EXPECTED, UPPER))
    shares = _host_shares(report, saved(assumed, there, EXPECTED))
    left = [_remaining(finding, assumed, there, base, shares) for finding in others]
    return WhatIf(
        patterns=globs,
        unmatched=tuple(g for g in globs if not any(fnmatchcase(f.rule, g) for f in report.findings)),
        assumed=tuple(assumed),
        base_ns=base.total,
        expected_ns=expected.total,
        best_ns=best.total,
        parts=base,
        expected_parts=expected,
        remaining=tuple(sorted(left, key=lambda one: (-one.expected_ns * _weight(one.finding), one.finding.rule))),
        host_share=shares,
    )


def _after(base: Parts, gone: Parts) -> Parts:
    return Parts(base.kernels - gone.kernels, base.idle - gone.idle, base.copies - gone.copies)


def _weight(finding: Finding) -> float:
    return finding.rank / finding.saving.expected_ns if finding.saving.expected_ns else 0.0


def _remaining(
    finding: Finding, assumed: Sequence[Finding], there: Parts, base: Parts, shares: tuple[float, float] | None
) -> Remaining:
    more = (
        saved([*assumed, finding], there, which).total - saved(assumed, there, which).total
        for which in (EXPECTED, UPPER)
    )
    expected, upper = (max(amount, 0.0) for amount in more)
    alone = saved([finding], there, EXPECTED).total
    reason = _overlap(finding, assumed) if expected < LESS * alone else ""
    factor = _host_factor(shares) if finding.saving.resource in GPU_SIDE and shares is not None else 1.0
    if factor < LESS and shares is not None:
        waits = f"the GPU would wait for the host {percent(shares[1])} of the steady window"
        reason = f"{reason}; {waits}" if reason else waits
    expected *= factor
    return Remaining(finding, expected, upper, expected >= WORTH * base.total > 0, reason)


def _overlap(finding: Finding, assumed: Sequence[Finding]) -> str:
    """Whose time the finding would have saved as well."""
    mine = {(member.device, member.key) for member in finding.subject.members}
    sharing = [
        other
        for other in assumed
        if (mine & {(member.device, member.key) for member in other.subject.members})
        or (not mine and not other.subject.members and other.category == finding.category)
    ]
    names = ", ".join(dict.fromkeys(other.rule for other in sharing))
    return f"{names} already saves that time" if names else "the time it saves from is used up"


def _host_factor(shares: tuple[float, float] | None) -> float:
    """What is left of savings of kernel time when the host's share grows; they are scaled by the share now already."""
    if shares is None:
        return 1.0
    now, then = (1.0 - share if share > HOST_LIMIT else 1.0 for share in shares)
    return min(then / now, 1.0) if now > 0 else 1.0


def _host_shares(report: Report, gone: Parts) -> tuple[float, float] | None:
    """Part of the steady windows in which the GPU waits for the host, now and with ``gone`` saved.

    Saved kernel time leaves its part of the window, saved idle time comes off the waiting. That is the least: what the
    host does while the GPU is busy is not seen in gaps, and may become one.
    """
    known = [d for d in report.device_totals if d.host_bound_share is not None and d.steady and d.window_ns]
    window = sum(device.window_ns or 0.0 for device in known)
    busy = sum(device.busy_ns or 0.0 for device in known)
    if not window or report.totals.kernel_ns <= 0:
        return None
    waits = sum((device.host_bound_share or 0.0) * (device.window_ns or 0.0) for device in known)
    shorter = window - busy * gone.kernels / report.totals.kernel_ns - gone.idle
    left = max(waits - gone.idle, 0.0)
    return waits / window, min(left / shorter, 1.0) if shorter > 0 else 0.0
