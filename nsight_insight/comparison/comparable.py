"""What two captures can be compared by: per training step, as wholes that hold the same work, or launch by launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.comparison import Unit
from nsight_insight.views.facts import TRACE

if TYPE_CHECKING:
    from nsight_insight.comparison.capture import Capture
    from nsight_insight.comparison.matching import Pairing

CLOCK: Final = 0.03
"""Share by which clocks may differ before they explain a difference."""
OTHER_SHAPES: Final = 0.3
"""Part of the time of kernels with the same name that runs other grids: then the work of a step may have changed."""
SAME_STEP: Final = 0.1
"""Steps recognised in two ways are only compared if kernels run as often in both, to this share."""
OTHER_STEP: Final = 0.25
TELL_STEPS: Final = "say how many steps each capture holds with --steps BEFORE:AFTER"


def unit_of(before: Capture, after: Capture, pairings: Sequence[Pairing]) -> tuple[Unit, str]:
    """The unit of comparison, and why totals cannot be compared where there is none."""
    for side, capture in (("before", before), ("after", after)):
        if not capture.kernels:
            return "", f"the capture {side} holds no kernels{_graphs(capture)}"
    if before.tool != after.tool:
        return "", f"times of {before.tool} and {after.tool} differ by how they are taken"
    if before.steps and after.steps:
        ratio, bases = step_ratio(pairings, before, after), (before.spans.basis, after.spans.basis)
        if all(bases) and bases[0] != bases[1] and abs(ratio - 1) > SAME_STEP:
            how = f"recognised by {bases[0]} before and by {bases[1]} after"
            return "", f"steps were {how}, and kernels run {ratio:.2g} times as often in one; {TELL_STEPS}"
        return "step", ""
    if all(_same_launches(pairing) for pairing in pairings):
        return "capture", ""
    return "", f"the captures hold other numbers of launches and their steps are not known; {TELL_STEPS}"


def _graphs(capture: Capture) -> str:
    """How to see kernels where the program launches CUDA graphs."""
    acts = capture.views.activities
    calls = acts.rows(acts.kind(Kind.API))
    if not acts.named(calls, lambda name: "GraphLaunch" in name).any():
        return ""
    return ": it launches CUDA graphs, whose kernels are traced with nsys profile --cuda-graph-trace=node"


def step_ratio(pairings: Sequence[Pairing], before: Capture, after: Capture) -> float:
    """Launches a step after over those before, of the typical kernel that both hold by name; 1 without any."""
    found = sorted(
        (pairing.after[0].count(after.divisor) / count, pairing.before[0].total)
        for pairing in pairings
        if pairing.match == "name" and (count := pairing.before[0].count(before.divisor))
    )
    reached, whole = 0.0, sum(time for _, time in found)
    for ratio, time in found:
        reached += time
        if 2 * reached >= whole:
            return ratio
    return 1.0


def _same_launches(pairing: Pairing) -> bool:
    ours, theirs = sum(k.launches for k in pairing.before), sum(k.launches for k in pairing.after)
    return ours == theirs


def cautions(before: Capture, after: Capture, pairings: Sequence[Pairing], unit: Unit) -> tuple[str, ...]:
    """What makes the comparison less than it seems, in sentences."""
    return tuple(_cautions(before, after, pairings, unit))


def _cautions(before: Capture, after: Capture, pairings: Sequence[Pairing], unit: Unit) -> Iterator[str]:
    ours, theirs = _names(before), _names(after)
    if ours and theirs and ours != theirs:
        yield f"other GPUs: {' and '.join(ours)} before, {' and '.join(theirs)} after; the difference includes theirs"
    counts = len(before.profile.devices), len(after.profile.devices)
    if all(counts) and counts[0] != counts[1]:
        numbers = f"{counts[0]} before, {counts[1]} after"
        yield f"other numbers of GPUs: {numbers}; times are sums over all of them"
    ratio = clock_ratio(before, after)
    if ratio is not None and abs(ratio - 1) > CLOCK:
        yield f"the SM clock after is {ratio:.2f} times that before; no difference below that counts"
    if unit and _other_shapes(pairings) > OTHER_SHAPES:
        yield f"kernels of the same name run other grids: the {unit} may hold other work (batch size, shapes)"
    ratio = step_ratio(pairings, before, after)
    if unit == "step" and abs(ratio - 1) > OTHER_STEP:
        yield f"kernels of the same name run {ratio:.2g} times as often in a step: it may hold other work"
    if unit and _by_place(pairings) > OTHER_SHAPES:
        yield "kernels with other names were matched by their place alone: that they do the same work is assumed"
    versions = _versions(before), _versions(after)
    if all(versions) and versions[0] != versions[1]:
        yield f"other versions of the profiler: {', '.join(versions[0])} before, {', '.join(versions[1])} after"
    for side, capture in (("before", before), ("after", after)):
        yield from (f"{side}: {text}" for text in capture.cautions)
    bases = before.spans.basis, after.spans.basis
    if unit == "step" and all(bases) and bases[0] != bases[1]:
        yield f"steps were recognised by {bases[0]} before, by {bases[1]} after"
    if unit == "step" and {before.divisor is None, after.divisor is None} == {True, False}:
        yield "only one capture shows where its steps are; that of the other includes warm-up"
    if unit == "step" and "nsys" in before.tool and (before.wall() is None or after.wall() is None):
        yield "only kernel time is compared: not both captures show how long a step takes (mark steps with NVTX ranges)"


def _by_place(pairings: Sequence[Pairing]) -> float:
    """Share of the time before in kernels of unknown family that only their place in the sequence tells."""
    whole = sum(kernel.total for pairing in pairings for kernel in pairing.before)
    placed = [p for p in pairings if p.match == "position" and p.before[0].family == "unknown"]
    return sum(kernel.total for pairing in placed for kernel in pairing.before) / whole if whole else 0.0


def _versions(capture: Capture) -> tuple[str, ...]:
    sources = capture.profile.sources
    return tuple(sorted({f"{source.tool} {source.version}" for source in sources if source.version}))


def _names(capture: Capture) -> tuple[str, ...]:
    return tuple(sorted({device.name for device in capture.profile.devices if device.name}))


def clock_ratio(before: Capture, after: Capture) -> float | None:
    """SM clock after over before, of ncu captures; None where either does not say, or where nsys' times count."""
    if before.tool != "ncu" or after.tool != "ncu":
        return None
    clocks = [_clock(capture) for capture in (before, after)]
    return clocks[1] / clocks[0] if clocks[0] and clocks[1] else None


def _clock(capture: Capture) -> float | None:
    """The mean clock of the ncu launches, in Hz."""
    table = capture.views[TRACE]
    acts = capture.views.activities
    if not len(table) or "sm_clock" not in acts.metric_names():
        return None
    known = acts.column("sm_clock")
    known = known[~np.isnan(known)]
    return float(np.median(known)) if len(known) else None


def _other_shapes(pairings: Sequence[Pairing]) -> float:
    """Share of the time of kernels with the same name whose grids have nothing in common."""
    named = [pairing for pairing in pairings if pairing.match == "name"]
    whole = sum(pairing.before[0].total for pairing in named)
    other = sum(p.before[0].total for p in named if not p.before[0].shapes.keys() & p.after[0].shapes.keys())
    return other / whole if whole else 0.0
