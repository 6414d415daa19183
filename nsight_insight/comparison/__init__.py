"""Two captures of one program, before and after a change: what got faster or slower, by how much, and how sure that is.

``compare`` is the entry; ``matching`` finds kernels again across renames, ``noise`` says what may be concluded from
two times, ``findings`` follows findings from one report to the other, ``verification`` holds predictions against what
happened, ``baseline`` does so for a saved report.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nsight_insight._version import __version__
from nsight_insight.model.comparison import Change, Comparison, KernelChange, Measure, Run, Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.comparison.capture import Capture
    from nsight_insight.comparison.matching import Pairing
    from nsight_insight.model.finding import Report
    from nsight_insight.model.profile import Profile


@dataclass(frozen=True)
class Side:
    """What was read on one side, and what the rules say about it."""

    profile: Profile
    report: Report


@dataclass(frozen=True)
class Matched:
    """Both captures measured and their kernels matched, for what compares more than times."""

    before: Capture
    after: Capture
    pairings: tuple[Pairing, ...]
    unit: Unit
    reason: str


def matched(before: Side, after: Side, steps: tuple[int, int] | None = None) -> Matched:
    """Measure both sides and match their kernels.

    Args:
        before: the capture before the change.
        after: the capture after it.
        steps: training steps in each, where the captures do not show them or are to be overruled.
    """
    from nsight_insight.comparison.capture import capture_of
    from nsight_insight.comparison.comparable import unit_of
    from nsight_insight.comparison.matching import match
    from nsight_insight.views.build import build_all

    given = steps or (None, None)
    ours, theirs = (
        capture_of(side.profile, build_all(side.profile), number)
        for side, number in zip((before, after), given, strict=True)
    )
    pairings = match(ours, theirs)
    unit, reason = unit_of(ours, theirs, pairings)
    if unit != "step":
        # Steps that only one side shows must not divide its times.
        ours, theirs = replace(ours, divisor=1.0), replace(theirs, divisor=1.0)
    return Matched(ours, theirs, tuple(pairings), unit, reason)


def compare(before: Side, after: Side, steps: tuple[int, int] | None = None) -> Comparison:
    """Compare two captures of one program."""
    from nsight_insight.comparison import changes
    from nsight_insight.comparison.comparable import cautions
    from nsight_insight.comparison.findings import finding_changes

    both = matched(before, after, steps)
    ours, theirs, unit = both.before, both.after, both.unit
    wall = changes.wall_change(ours, theirs) if unit == "step" else None
    kernel = changes.kernel_change(ours, theirs) if unit else None
    kernels = changes.kernel_changes(ours, theirs, both.pairings, unit)
    chosen = wall or kernel
    return Comparison(
        version=__version__,
        before=run_of(ours, unit),
        after=run_of(theirs, unit),
        unit=unit,
        verdict=chosen.verdict if chosen else "unknown",
        measure=measure_of(wall, kernel),
        reason=chosen.reason if chosen else both.reason,
        wall=wall,
        kernel=kernel,
        launches=(_launches(ours), _launches(theirs)) if unit else None,
        bytes=_bytes(kernels) if unit else None,
        groups=tuple(changes.group_changes(ours, theirs)) if unit else (),
        kernels=tuple(kernels),
        findings=tuple(finding_changes(before.report, after.report, both)),
        cautions=cautions(ours, theirs, both.pairings, unit),
        issues=(*before.report.issues, *after.report.issues),
    )


def measure_of(wall: Change | None, kernel: Change | None) -> Measure:
    """What is known of the whole: the step before all kernels."""
    return "wall" if wall else "kernel" if kernel else ""


def _launches(capture: Capture) -> float:
    return sum(kernel.count(capture.divisor) for kernel in capture.kernels)


def run_of(capture: Capture, unit: Unit) -> Run:
    """The side as the reader is told of it."""
    return Run(
        paths=tuple(dict.fromkeys(source.path for source in capture.profile.sources)),
        tool=capture.tool,
        devices=tuple(device.name or f"device {device.index}" for device in capture.profile.devices),
        steps=capture.steps,
        launches=_launches(capture) if unit else capture.launches,
        kernels=len(capture.kernels),
        noise=capture.noise,
    )


def _bytes(kernels: Sequence[KernelChange]) -> tuple[float, float] | None:
    """DRAM bytes of the kernels that ncu counted on both sides."""
    known = [
        (one.bytes_before, one.bytes_after)
        for one in kernels
        if one.bytes_before is not None and one.bytes_after is not None
    ]
    return (sum(b for b, _ in known), sum(a for _, a in known)) if known else None
