"""Matched captures to changes: of every kernel, of families, copies and idle time, and of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.comparison.comparable import clock_ratio
from nsight_insight.comparison.noise import FLOORS, ZERO, Estimate, Floor, judged, total
from nsight_insight.model.comparison import Change, GroupChange, KernelChange, KernelPart, Unit
from nsight_insight.views.facts import TRACE

if TYPE_CHECKING:
    from nsight_insight.comparison.capture import Capture, Kernel, Lane
    from nsight_insight.comparison.matching import Pairing

HOST_BOUND: Final = 0.1
"""Idle share of a step from which on its length depends on the host."""
UNKNOWN_SHAPE: Final = (-1.0, -1.0)
SAME_RATIO: Final = 0.01
CAUSES: Final = ("launch", "sync", "copy", "allocation", "module", "mpi", "data", "host", "queued")
UNEXPLAINED: Final = 0.1
"""Part of the idle time without a known cause from which on causes are not compared."""


def floor_of(before: Capture, after: Capture, measure: str) -> Floor:
    """What applies to times of the two captures; clocks that differ widen it."""
    if measure == "wall" and max(idle_share(before), idle_share(after)) > HOST_BOUND:
        measure = "host"
    floor = FLOORS["ncu" if before.tool == "ncu" else measure]
    ratio = clock_ratio(before, after)
    return floor if ratio is None else replace(floor, share=max(floor.share, abs(ratio - 1)))


def idle_share(capture: Capture) -> float:
    """Idle part of a step; 1 where that is not known, so that the wider floor holds."""
    idle, wall = capture.idle(), capture.wall()
    return idle.value / wall.value if idle is not None and wall is not None and wall.value else 1.0


def unknown(before: float | None, after: float | None, reason: str) -> Change:
    """A change that nothing can be said about."""
    return Change(before, after, None, "unknown", reason)


def wall_change(before: Capture, after: Capture) -> Change | None:
    """Length of the median step; None where a side has no timeline."""
    ours, theirs = before.wall(), after.wall()
    if ours is None or theirs is None:
        return None
    return judged(ours, theirs, floor_of(before, after, "wall"))


def kernel_change(before: Capture, after: Capture) -> Change:
    """Kernel time per unit."""
    # Errors of single launches are independent: they add up as squares do.
    launches = max(1.0, *(side.launches / (side.divisor or float(side.steps or 1)) for side in (before, after))) ** 0.5
    return judged(before.kernel_time(), after.kernel_time(), floor_of(before, after, "kernel"), launches)


def kernel_changes(before: Capture, after: Capture, pairings: Sequence[Pairing], unit: Unit) -> list[KernelChange]:
    """Every pairing, largest difference first."""
    found = [change_of(before, after, pairing, unit) for pairing in pairings]
    return sorted(found, key=lambda one: (-abs(one.time.difference or 0.0), one.lead.name, one.match))


def change_of(before: Capture, after: Capture, pairing: Pairing, unit: Unit) -> KernelChange:
    """How the time of matched kernels changed."""
    floor = floor_of(before, after, "part")
    ours, theirs = pairing.before, pairing.after
    launches = max(_count(ours, before), _count(theirs, after))
    if unit:
        time = judged(before.sum_of(ours), after.sum_of(theirs), floor, launches)
    else:
        time = _per_launch(before, after, pairing, floor)
    return KernelChange(
        before=tuple(_part(kernel, before, unit) for kernel in ours),
        after=tuple(_part(kernel, after, unit) for kernel in theirs),
        match=pairing.match,
        what=what_happened(pairing),
        time=time,
        bytes_before=_bytes(ours, before),
        bytes_after=_bytes(theirs, after),
    )


def _per_launch(before: Capture, after: Capture, pairing: Pairing, floor: Floor) -> Change:
    """One launch before and after, where both sides have exactly one kernel of the same shapes."""
    if not pairing.before or not pairing.after:
        side = before if pairing.before else after
        value = total(kernel.launch for kernel in (*pairing.before, *pairing.after)).value
        reason = "totals cannot be compared"
        return unknown(value, None, reason) if side is before else unknown(None, value, reason)
    ours, theirs = _launch(pairing.before), _launch(pairing.after)
    if before.tool != after.tool:
        return unknown(
            ours.value, theirs.value, f"times of {before.tool} and {after.tool} differ by how they are taken"
        )
    if pairing.match not in ("name", "template") or len(pairing.before) > 1 or len(pairing.after) > 1:
        return unknown(ours.value, theirs.value, "other kernels; a launch need not do the same work")
    if not _same_mixture(pairing.before[0], pairing.after[0], before.ratio_to(after)):
        return unknown(ours.value, theirs.value, "other grids; a launch need not do the same work")
    return judged(ours, theirs, floor, 1.0)


def _same_mixture(b: Kernel, a: Kernel, ratio: float) -> bool:
    """Whether launches of a kernel do the same work on average: the same part of them has each grid and block.

    Where sizes are not written, there must be as many more launches as other kernels have.
    """
    if b.shapes.keys() != a.shapes.keys():
        return False
    own = a.launches / b.launches
    if UNKNOWN_SHAPE in b.shapes:
        return abs(own / ratio - 1) < SAME_RATIO
    return all(abs(a.shapes[shape] / b.shapes[shape] / own - 1) < SAME_RATIO for shape in b.shapes)


def _launch(kernels: Sequence[Kernel]) -> Estimate:
    launches = sum(kernel.launches for kernel in kernels)
    return total(kernel.launch.scaled(kernel.launches / launches) for kernel in kernels)


def _count(kernels: Iterable[Kernel], capture: Capture) -> float:
    return sum(kernel.count(capture.divisor) for kernel in kernels)


def _part(kernel: Kernel, capture: Capture, unit: Unit) -> KernelPart:
    time = kernel.time(capture.divisor).value if unit else kernel.launch.value
    launches = kernel.count(capture.divisor) if unit else kernel.launches
    return KernelPart(kernel.name, kernel.base, kernel.family, kernel.dtype, time, launches)


def _bytes(kernels: Sequence[Kernel], capture: Capture) -> float | None:
    """DRAM bytes per unit; None where ncu did not count every kernel."""
    known = [
        kernel.bytes * kernel.count(capture.divisor) / kernel.launches
        for kernel in kernels
        if kernel.bytes is not None and kernel.launches
    ]
    return sum(known) if known and len(known) == len(kernels) else None


def what_happened(pairing: Pairing) -> str:
    """The kind of change in a word."""
    ours, theirs = pairing.before, pairing.after
    if not ours or not theirs:
        return "new" if theirs else "gone"
    if pairing.match == "name":
        return "same"
    if _other_types({kernel.dtype for kernel in ours} - {""}, {kernel.dtype for kernel in theirs} - {""}):
        return "precision"
    if pairing.match == "template":
        return "recompiled"
    if len(ours) == len(theirs) == 1:
        return "replaced"
    if len(theirs) == 1:
        return "fused"
    return "split" if len(ours) == 1 else "rewritten"


def _other_types(ours: set[str], theirs: set[str]) -> bool:
    """Whether types differ for certain; some names only tell that operands have 16 bits."""
    halves = {"fp16", "bf16", "16bit"}
    if "16bit" in ours | theirs and ours <= halves and theirs <= halves:
        return False
    return bool(ours) and bool(theirs) and ours != theirs


def group_changes(before: Capture, after: Capture) -> list[GroupChange]:
    """Families, copies and idle time per unit, largest difference first within each kind."""
    found = [*_families(before, after), *_copies(before, after), *_idle(before, after)]
    order = {"family": 0, "copies": 1, "idle": 2}
    return sorted(
        found, key=lambda one: (order[one.kind], one.name != "all", -abs(one.time.difference or 0.0), one.name)
    )


def _families(before: Capture, after: Capture) -> Iterator[GroupChange]:
    floor = floor_of(before, after, "part")
    for family in sorted({kernel.family for kernel in (*before.kernels, *after.kernels)}):
        ours = [kernel for kernel in before.kernels if kernel.family == family]
        theirs = [kernel for kernel in after.kernels if kernel.family == family]
        counts = _count(ours, before), _count(theirs, after)
        time = judged(before.sum_of(ours), after.sum_of(theirs), floor, max(counts))
        yield GroupChange("family", family, time, *counts)


def _copies(before: Capture, after: Capture) -> Iterator[GroupChange]:
    if (before.divisor is None) != (after.divisor is None):
        return  # Whole captures hold the copies of the start as well.
    floor = floor_of(before, after, "part")
    for name in sorted({lane.name for lane in (*before.lanes, *after.lanes)}):
        ours, theirs = _lane(before, name), _lane(after, name)
        counts = (
            ours.launches(before.divisor) if ours else 0.0,
            theirs.launches(after.divisor) if theirs else 0.0,
        )
        times = ours.time(before.divisor) if ours else ZERO, theirs.time(after.divisor) if theirs else ZERO
        yield GroupChange("copies", name, judged(*times, floor, max(counts)), *counts)


def _lane(capture: Capture, name: str) -> Lane | None:
    return next((lane for lane in capture.lanes if lane.name == name), None)


def _idle(before: Capture, after: Capture) -> Iterator[GroupChange]:
    """Idle time of a step and its causes; a cause is as uncertain as the whole, of which it is a part."""
    ours, theirs = before.idle(), after.idle()
    if ours is None or theirs is None:
        return
    floor = floor_of(before, after, "wall")
    walls = before.wall() or ZERO, after.wall() or ZERO
    # Idle time is what a step has left: its floor is that of the step.
    least = Floor(0.0, floor.share * (walls[0].value + walls[1].value) / 2, floor.why)
    yield GroupChange("idle", "all", judged(ours, theirs, least, 1.0))
    if not all(_explained(side, idle) for side, idle in ((before, ours), (after, theirs))):
        return
    for cause in CAUSES:
        parts = [_cause(side, cause) or 0.0 for side in (before, after)]
        if any(parts):
            first, second = replace(ours, value=parts[0]), replace(theirs, value=parts[1])
            yield GroupChange("idle", cause, judged(first, second, least, 1.0))


def _explained(capture: Capture, idle: Estimate) -> bool:
    """Whether the capture says why the device was idle, for nearly all of the time."""
    open_time = _cause(capture, "unknown")
    return open_time is not None and open_time <= UNEXPLAINED * idle.value and _cause(capture, "launch") is not None


def _cause(capture: Capture, cause: str) -> float | None:
    """Idle time per steady step with this cause, ns, the mean of the devices; None where it is not known."""
    table = capture.views[TRACE]
    values, steps = table.values.get(f"idle_{cause}_time"), table.values.get("steady_steps")
    if values is None or steps is None or np.isnan(values).any() or np.isnan(steps).any():
        return None
    return float((values / steps).mean()) * 1e9
