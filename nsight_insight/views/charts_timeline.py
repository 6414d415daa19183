"""The timeline of a typical stretch of each device: a steady step of median length, else the whole capture."""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.model.charts import Timeline
from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Floats, Ints
from nsight_insight.views.gpu import gpu_facts
from nsight_insight.views.idle import find_gaps, gap_causes
from nsight_insight.views.lanes import lanes_of
from nsight_insight.views.steps import REPEATING, Steps, find_steps
from nsight_insight.views.timeline import Window, window

NO_TIMES: Final = (
    "no input says when kernels ran; nsys profile, exported as SQLite or by nsys stats --report cuda_gpu_trace, does"
)
NO_DEVICE: Final = "copies do not say to which device they belong"
CELLS: Final = 400
"""Cells in which idle time is summed up: most gaps of a step are too narrow to be drawn by themselves."""
WHOLE: Final = "the whole capture, start-up included: no training step was recognised"


def timelines(acts: Activities) -> tuple[Timeline, ...]:
    """One timeline per device that ran kernels."""
    device = acts.device[acts.base]
    indices = np.unique(device)
    return tuple(_timeline(acts, int(index), acts.base[device == index], len(indices) == 1) for index in indices)


def _timeline(acts: Activities, index: int, kernels: Ints, alone: bool) -> Timeline:
    gpu = gpu_facts(acts, index).name or ""
    work = _work(acts, index, alone)
    if work is None:
        return Timeline(index, gpu, 0.0, 0.0, "", (), {}, {}, note=NO_DEVICE)
    start = acts.column("start")[work]
    if np.isnan(start).any() or np.isnan(acts.column("start")[kernels]).any():
        return Timeline(index, gpu, 0.0, 0.0, "", (), {}, {}, note=NO_TIMES)
    end = start + np.nan_to_num(acts.column("duration")[work])
    title, (first, last), (since, until) = _stretch(acts, kernels, float(end.max()))
    shown = window(start, end, first, last)
    idle, cells = _idle(acts, work, shown, window(start, end, since, until))
    return Timeline(index, gpu, shown.length, shown.busy, title, lanes_of(acts, work, shown), idle, cells)


def _work(acts: Activities, index: int, alone: bool) -> Ints | None:
    """GPU work of a device; None where some of it may be another device's."""
    kinds = acts.kind(Kind.KERNEL, Kind.GRAPH, Kind.MEMCPY, Kind.MEMSET)
    rows = acts.rows(kinds & acts.column("primary"))
    device = acts.device[rows]
    if (device < 0).any() and not alone:
        return None
    own: Ints = rows[(device == index) | (device < 0)]
    return own


def _stretch(acts: Activities, kernels: Ints, last: float) -> tuple[str, tuple[float, float], tuple[float, float]]:
    """What is shown, and the window over which idle time is explained, in ns on the capture's clock.

    The whole capture begins with its first kernel, as everywhere: uploads before it are start-up.
    """
    first = float(acts.column("start")[kernels].min())
    steps = find_steps(acts, kernels)
    steady = steps.steady() if steps is not None else None
    if steps is None or steps.edges is None or steady is None:
        return WHOLE, (first, last), (first, last)
    lengths = np.diff(steps.edges)[steady[0] : steady[1]]
    chosen = steady[0] + int(np.argsort(lengths, kind="stable")[(len(lengths) - 1) // 2])
    title = f"{_named(steps, chosen)}, {_chosen(len(lengths))}"
    shown = (float(steps.edges[chosen]), float(steps.edges[chosen + 1]))
    return title, shown, (float(steps.edges[steady[0]]), float(steps.edges[steady[1]]))


def _named(steps: Steps, number: int) -> str:
    """A repeating kernel sequence may be a layer or a microbatch: it is not called a step."""
    if steps.basis.startswith(REPEATING):
        return f"repetition {number + 1} of {steps.count} of one kernel sequence (a step, or a layer of one)"
    return f"step {number + 1} of {steps.count}"


def _chosen(steady: int) -> str:
    return f"the median of {steady} steady ones" if steady > 1 else "the only steady one"


def _idle(
    acts: Activities, work: Ints, shown: Window, explained: Window
) -> tuple[dict[str, float], dict[str, tuple[float, ...]]]:
    """Idle time of the shown window per cause: its sum, and its part of each cell.

    Causes are those of the longer window: whether the host could have launched ahead depends on what was before.
    """
    gaps = find_gaps(acts, work, explained)
    edges = np.linspace(shown.start, shown.end, CELLS + 1)
    found = {
        cause: _per_cell(gaps.start, gaps.end, time, edges)
        for cause, time in gap_causes(acts, gaps, explained.start).items()
    }
    sums = {cause: float(time.sum()) for cause, time in found.items()}
    ranked = sorted((cause for cause in found if sums[cause] > 0), key=lambda cause: (-sums[cause], cause))
    cell = shown.length / CELLS
    return (
        {cause: sums[cause] for cause in ranked},
        {cause: tuple(np.clip(found[cause] / cell, 0.0, 1.0).tolist()) for cause in ranked},
    )


def _per_cell(start: Floats, end: Floats, time: Floats, edges: Floats) -> Floats:
    """How much of ``time``, spread evenly over each of the intervals, lies between neighbouring edges."""
    if not len(start):
        return np.zeros(len(edges) - 1)
    places = np.stack([start, end], axis=1).ravel()
    until = np.cumsum(time)
    reached = np.stack([until - time, until], axis=1).ravel()
    return np.asarray(np.diff(np.interp(edges, places, reached)), dtype=np.float64)
