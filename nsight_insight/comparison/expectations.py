"""The metrics that a rule expects to move, before and after, for the kernels or the device a finding is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.model.units import TIME, Dimension
from nsight_insight.model.verification import Expectation, Movement
from nsight_insight.rules.evidence import unit_name
from nsight_insight.views.facts import KERNEL, TRACE, facts_of

if TYPE_CHECKING:
    from nsight_insight.comparison import Matched
    from nsight_insight.comparison.capture import Capture, Kernel
    from nsight_insight.comparison.matching import Pairing
    from nsight_insight.rules.model import Verify

MOVES: Final = 0.05
"""Share by which a metric must change to count as moved."""
_STEADY: Final = ("steady_", "idle_", "slow_")
_RATIOS: Final = frozenset({"idle_share", "host_bound_share", "median_gap", "concurrency", "mean_kernel", "queue_time"})


@dataclass(frozen=True)
class Subject:
    """What a finding is about on both sides: matched kernels, or a device where it has none."""

    both: Matched
    pairings: tuple[Pairing, ...]
    device: int

    def kernels(self, side: int) -> list[Kernel]:
        """Its kernels before (0) or after (1)."""
        return [kernel for pairing in self.pairings for kernel in (pairing.before, pairing.after)[side]]

    def capture(self, side: int) -> Capture:
        """The capture before (0) or after (1)."""
        return (self.both.before, self.both.after)[side]


def expectation(wanted: Verify, subject: Subject, scope: str) -> Expectation:
    """The metric on both sides, and whether it moved as it should."""
    before, after = (_value(wanted.metric, subject, side, scope) for side in (0, 1))
    dimension = _dimension(wanted.metric, scope)
    unit = unit_name(dimension) if dimension else ""
    return Expectation(
        wanted.metric, wanted.moves, wanted.where, before, after, unit, _movement(before, after, wanted.moves)
    )


def _movement(before: float | None, after: float | None, moves: str) -> Movement:
    if before is None or after is None:
        return "unknown"
    difference = after - before
    if abs(difference) <= MOVES * max(abs(before), abs(after)):
        return "stayed"
    return "as predicted" if (difference > 0) == (moves == "up") else "other way"


def _dimension(metric: str, scope: str) -> Dimension | None:
    fact = facts_of(scope).get(metric) or facts_of(TRACE).get(metric)
    return fact.dimension if fact else None


def _value(metric: str, subject: Subject, side: int, scope: str) -> float | None:
    capture = subject.capture(side)
    if not subject.both.unit and metric in ("duration", "launches"):
        return None
    if scope == TRACE or not subject.pairings:
        return _of_device(metric, capture, subject.device)
    kernels = subject.kernels(side)
    if metric == "duration":
        return capture.sum_of(kernels).value * 1e-9
    if metric == "launches":
        return float(sum(kernel.count(capture.divisor) for kernel in kernels))
    return _of_kernels(metric, capture, kernels)


def _of_device(metric: str, capture: Capture, device: int) -> float | None:
    """A fact of the device, per step where it adds up over steps."""
    table = capture.views[TRACE]
    name = "kernel_time" if metric == "duration" else metric
    values = table.values.get(name)
    if values is None or values.dtype == object:
        return None
    chosen = values[table.devices == device] if (table.devices == device).any() else values[:1]
    if not len(chosen) or np.isnan(chosen[0]):
        return None
    value = float(chosen[0])
    if name in _RATIOS:
        return value
    number = table.values.get("steady_steps") if name.startswith(_STEADY) else table.values.get("steps")
    if number is not None and len(number) and number[0] > 0:
        return value / float(number[0])
    return value / (capture.divisor or 1.0)


def _of_kernels(metric: str, capture: Capture, kernels: Sequence[Kernel]) -> float | None:
    """A metric over some kernels: work adds up, per unit; ratios are weighted by time. None unless all have it."""
    if not kernels:
        return None
    table = capture.views[KERNEL]
    values = table.values.get(metric)
    if values is None or values.dtype == object:
        return None
    codes, names = capture.views.activities.name_codes
    keys = {kernel.key: kernel for kernel in kernels}
    rows = [row for row, lead in enumerate(table.lead) if names[codes[lead]] in keys]
    chosen, weights = values[rows].astype(float), table.time[rows]
    if not rows or np.isnan(chosen).any():
        return None
    if adds_up(metric):
        per_unit = [keys[names[codes[table.lead[row]]]] for row in rows]
        scale = [kernel.count(capture.divisor) / kernel.launches if kernel.launches else 0.0 for kernel in per_unit]
        return float((chosen * np.array(scale)).sum())
    return float(np.average(chosen, weights=weights)) if weights.sum() > 0 else float(chosen.mean())


def adds_up(metric: str) -> bool:
    """Whether a kernel's value is the sum over its launches."""
    known = load_metrics().get(metric)
    if known is not None:
        return known.combine == "sum"
    fact = facts_of(KERNEL).get(metric)
    return metric == "dram_bytes_moved" or (fact is not None and fact.dimension == TIME)
