"""What ran at the same time on a device: overlap factor, exposed collectives, CUDA graph launches, step lengths."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import NS, Activities
from nsight_insight.views.copies import first_computation
from nsight_insight.views.coverage import Intervals, covered, merged
from nsight_insight.views.facts import Floats, Ints
from nsight_insight.views.steps import SLOW_STEP, Steps
from nsight_insight.views.timeline import Window, union
from nsight_insight.views.totals import Totals

_GRAPH: Final = re.compile(r"cu(?:da)?GraphLaunch")


def overlap_facts(acts: Activities, kernels: Ints, work: Ints, whole: Window, totals: Totals) -> None:
    """Add concurrency and exposed communication over the whole window; every row has a start time."""
    duration = np.nan_to_num(acts.column("duration")[work])
    if whole.busy > 0:
        start = acts.column("start")[work]
        first, last = np.maximum(start, whole.start), np.minimum(start + duration, whole.end)
        totals.set("concurrency", float(np.maximum(last - first, 0.0).sum()) / whole.busy)
    totals.set("kernel_concurrency", _stacked(acts, kernels))
    _communication(acts, kernels, whole, "", totals)
    _copies(acts, kernels, work, totals)


def _stacked(acts: Activities, kernels: Ints) -> float:
    """Sum of kernel durations over the time in which a kernel ran; NaN without any."""
    start, duration = acts.column("start")[kernels], np.nan_to_num(acts.column("duration")[kernels])
    together = union(start, start + duration)
    return float(duration.sum()) / together if together > 0 else float("nan")


def steady_overlap_facts(acts: Activities, kernels: Ints, steady: Window, totals: Totals) -> None:
    """Add exposed communication of the steady window."""
    _communication(acts, kernels, steady, "steady_", totals)


def _communication(acts: Activities, kernels: Ints, within: Window, prefix: str, totals: Totals) -> None:
    """Time in collectives, and its part during which no other kernel ran on the device."""
    start = acts.column("start")[kernels]
    end = np.minimum(start + np.nan_to_num(acts.column("duration")[kernels]), within.end)
    start = np.maximum(start, within.start)
    inside = end > start
    collective = inside & (acts.family(kernels) == "collective")
    totals.add(f"{prefix}comm_time", kernels, (end - start) * NS, collective)
    together = _one_lane(*merged(start[collective], end[collective]))
    others = inside & ~collective
    hidden = covered(together, _one_lane(start[others], end[others]))
    totals.set(f"{prefix}comm_exposed_time", float((together.end - together.start - hidden).sum()) * NS)


def _copies(acts: Activities, kernels: Ints, work: Ints, totals: Totals) -> None:
    """Time of host-device copies after the first computation during which no kernel ran on the device."""
    start, duration = acts.column("start"), np.nan_to_num(acts.column("duration"))
    first = first_computation(acts, kernels)
    across = np.isin(acts.column("direction")[work], ("HtoD", "DtoH")) & (start[work] >= first)
    copies = work[across]
    together = _one_lane(*merged(start[copies], start[copies] + duration[copies]))
    hidden = covered(together, _one_lane(start[kernels], start[kernels] + duration[kernels]))
    totals.set("exposed_copy_time", float((together.end - together.start - hidden).sum()) * NS)


def _one_lane(start: Floats, end: Floats) -> Intervals:
    return Intervals(start, end, np.zeros(len(start), dtype=np.int64))


def graph_facts(acts: Activities, calls: Ints | None, work: Ints | None, totals: Totals) -> None:
    """Add how often CUDA graphs were launched: by API calls, else by graphs traced as a whole."""
    if calls is not None and len(calls):
        totals.add("graph_launches", calls, acts.count(calls), acts.named(calls, lambda name: bool(_GRAPH.match(name))))
    elif work is not None and (acts.column("kind")[work] == Kind.GRAPH.value).any():
        totals.add("graph_launches", work, acts.count(work), acts.column("kind")[work] == Kind.GRAPH.value)


def step_facts(steps: Steps, totals: Totals) -> None:
    """Add lengths of the steady steps; needs at least two of them."""
    steady = steps.steady()
    if steps.edges is None or steady is None:
        return
    lengths = np.diff(steps.edges)[steady[0] : steady[1]] * NS
    typical = float(np.median(lengths))
    slow = lengths > SLOW_STEP * typical
    totals.set("step_median", typical)
    totals.set("step_max", float(lengths.max()))
    totals.set("slow_steps", float(slow.sum()))
    totals.set("slow_step_time", float((lengths[slow] - typical).sum()))
