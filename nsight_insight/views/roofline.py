"""Where each kernel stands under the roofs of its GPU: operations, bytes per memory level, and the ceiling.

Operations are what the counters say: Tensor Core operations by operand type, and FP32 and FP64 arithmetic on CUDA
cores (a multiply-add counts 2). A kernel that uses several paths needs at least the time of the busiest, where the
Tensor Core types share one; its ceiling is its operations over the longer of that time and that of its DRAM bytes
(Williams, Waterman, Patterson: Roofline, CACM 52/4, 2009). Peaks hold for the SM clock that was measured.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.model.charts import Roofline, RooflinePoint, Spread, Unplaced
from nsight_insight.views.activity import Activities
from nsight_insight.views.attach import MIN_COVERAGE, Attached, attach
from nsight_insight.views.facts import Array, FactTable, Floats
from nsight_insight.views.gpu import GpuFacts, gpu_facts
from nsight_insight.views.groups import Groups
from nsight_insight.views.join import kernels_of
from nsight_insight.views.metered import measured_bandwidth
from nsight_insight.views.roofline_work import PATHS, Work, clock_of, path_peaks, work_of
from nsight_insight.views.work import Columns, coalesce

HOW: Final = "ncu --set roofline (or --set full) collects operations, DRAM bytes and clocks"
NO_NCU: Final = f"no input holds ncu counters; {HOW}"
NOT_PROFILED: Final = "not profiled by ncu"
NO_BYTES: Final = "DRAM bytes were not collected"
NO_OPERATIONS: Final = "floating-point operations were not collected"
NO_TENSOR: Final = "the tensor pipe was busy, but no counter says with which operations"
LACKING: Final = (NO_BYTES, NO_OPERATIONS, NO_TENSOR)
NO_WORK: Final = "no FP32, FP64 or Tensor Core operation was counted"
HALF: Final = "computes in packed FP16, whose operations the capture does not count"
NO_TRAFFIC: Final = "no DRAM traffic was counted"


def rooflines(acts: Activities, kernels: FactTable) -> tuple[Roofline, ...]:
    """The roofline of each device that ran kernels.

    Args:
        acts: the profile's activities.
        kernels: facts of the scope ``kernel`` of the same activities.
    """
    devices = [int(device) for device in np.unique(kernels.devices)]
    attached = attach(acts, kernels_of(acts)) if len(kernels) else None
    if attached is None:
        return tuple(Roofline(d, gpu_facts(acts, d).name or "", None, {}, {}, (), (), NO_NCU) for d in devices)
    return tuple(_device(acts, kernels, attached, device) for device in devices)


def _device(acts: Activities, kernels: FactTable, attached: Attached, device: int) -> Roofline:
    facts = gpu_facts(acts, device)
    here = kernels.devices[attached.groups.codes] == device
    columns = Columns({name: column[here] for name, column in attached.columns.items()}, int(here.sum()))
    work = work_of(columns, facts)
    groups = Groups(attached.groups.codes[here], attached.groups.size)
    weights, counts = attached.weights[here], attached.launches[here]
    points, unplaced = [], []
    order = np.argsort(-kernels.time, kind="stable")
    for index in order[kernels.devices[order] == device]:
        mine = np.flatnonzero(groups.codes == index)
        reason = _reason(work, mine, weights)
        if reason:
            unplaced.append(_unplaced(kernels, int(index), reason))
        else:
            points.append(_point(kernels, int(index), work, mine, counts))
    lacking = not points and any(entry.reason in LACKING for entry in unplaced)
    return Roofline(
        device, facts.name or "", _known(np.median(clock_of(columns, facts))) if columns.size else None,
        _bandwidths(columns, facts), _peaks(columns, facts, {point.path for point in points}),
        tuple(points), tuple(unplaced), HOW if lacking else "",
    )  # fmt: skip


def _bandwidths(columns: Columns, facts: GpuFacts) -> dict[str, float]:
    levels = {
        "DRAM": coalesce(measured_bandwidth(columns), np.full(columns.size, facts.bandwidth)),
        "L2": columns("l2_peak_bytes_per_cycle") * columns("l2_clock"),
        "L1": columns("l1_peak_bytes_per_cycle") * clock_of(columns, facts),
    }
    found = {level: _median(values) for level, values in levels.items()}
    return {level: value for level, value in found.items() if value is not None}


def _peaks(columns: Columns, facts: GpuFacts, used: set[str]) -> dict[str, float]:
    peaks = path_peaks(columns, facts)
    found = {path: _median(row) for path, row in zip(PATHS, peaks, strict=True) if path in used}
    return {path: value for path, value in found.items() if value is not None}


def _median(values: Floats) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmedian(values))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _reason(work: Work, mine: Array, weights: Floats) -> str:
    """Why the launches ``mine`` cannot be placed, "" where they can."""
    if not len(mine):
        return NOT_PROFILED
    if not _covered(work.moved["DRAM"], mine, weights):
        return NO_BYTES
    if not _covered(work.ops, mine, weights):
        return NO_TENSOR if work.tensor_unknown[mine].any() else NO_OPERATIONS
    if not np.nansum(work.ops[mine]) > 0:
        return HALF if np.nansum(work.half[mine]) > 0 else NO_WORK
    if not np.nansum(work.moved["DRAM"][mine]) > 0:
        return NO_TRAFFIC
    return ""


def _covered(values: Floats, mine: Array, weights: Floats) -> bool:
    total = float(weights[mine].sum())
    known = mine[~np.isnan(values[mine])]
    return bool(len(known)) and float(weights[known].sum()) >= MIN_COVERAGE * total


def _unplaced(kernels: FactTable, index: int, reason: str) -> Unplaced:
    name, share = str(kernels.values["name"][index]), float(np.nan_to_num(kernels.values["time_share"][index]))
    return Unplaced(name, float(kernels.time[index]) * 1e9, share, reason)


def _point(kernels: FactTable, index: int, work: Work, mine: Array, counts: Floats) -> RooflinePoint:
    mine = mine[~np.isnan(work.ops[mine]) & ~np.isnan(work.moved["DRAM"][mine])]
    times = np.where(counts[mine] > 0, counts[mine], 1.0)
    ops, dram, seconds = work.ops[mine], work.moved["DRAM"][mine], work.seconds[mine]
    compute, memory = work.compute[mine], work.memory[mine]
    total = float((ops * times).sum())
    peak = _over(total, float((compute * times).sum()))
    with np.errstate(all="ignore"):
        spread = _spread(ops / dram)
    return RooflinePoint(
        kernel=str(kernels.values["name"][index]),
        family=str(kernels.values["family"][index]),
        launches=int(kernels.launches[index]),
        measured=len(mine),
        time_ns=float(kernels.time[index]) * 1e9,
        share=float(np.nan_to_num(kernels.values["time_share"][index])),
        path=PATHS[int(np.argmax(_path_time(work, mine)))],
        intensity=_intensities(work, mine, times),
        rate=total / float((seconds * times).sum()),
        intensities=spread,
        rates=_spread(ops / seconds),
        peak=peak,
        ceiling=_over(total, float((np.maximum(compute, memory) * times).sum())),
        bound=_bound(float((compute * times).sum()), float((memory * times).sum())),
        ridge=_ridge(peak, float((memory * times).sum()), float((dram * times).sum())),
    )


def _path_time(work: Work, mine: Array) -> Floats:
    """Time per path at its peak; operations themselves where no peak is known."""
    limits = np.where(work.paths[:, mine] > 0, work.limits[:, mine], 0.0)
    used = limits if not np.isnan(limits).any() else np.nan_to_num(work.paths[:, mine])
    return np.asarray(used.sum(axis=1), dtype=np.float64)


def _intensities(work: Work, mine: Array, times: Floats) -> dict[str, float]:
    found = {}
    for level, moved in work.moved.items():
        known = ~np.isnan(moved[mine])
        total = float((moved[mine] * times)[known].sum())
        if known.any() and total > 0:
            found[level] = float((work.ops[mine] * times)[known].sum()) / total
    return found


def _spread(values: Floats) -> Spread:
    """Over the launches whose value is finite: those without DRAM traffic have no intensity."""
    finite = values[np.isfinite(values)]
    low, median, p95, high = np.percentile(finite, (0, 50, 95, 100))
    return Spread(float(low), float(median), float(p95), float(high))


def _over(part: float, whole: float) -> float | None:
    return part / whole if np.isfinite(whole) and whole > 0 else None


def _bound(compute: float, memory: float) -> str:
    if np.isnan(compute) or np.isnan(memory):
        return ""
    return "compute" if compute >= memory else "memory"


def _ridge(peak: float | None, memory: float, moved: float) -> float | None:
    return peak * memory / moved if peak is not None and np.isfinite(memory) and moved > 0 else None
