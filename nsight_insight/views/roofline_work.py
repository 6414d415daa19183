"""What each measured launch did, and the least time that its GPU needs for it: the numbers behind a roofline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.views.facts import Array, Bools, Floats
from nsight_insight.views.gpu import GpuFacts
from nsight_insight.views.metered import measured_bandwidth
from nsight_insight.views.work import TENSOR_TYPES, Columns, coalesce, tensor_ops, total_tensor_ops

TENSOR: Final = tuple(f"{dtype} tensor" for dtype in TENSOR_TYPES)
PATHS: Final = (*TENSOR, "fp32", "fp64")
NOISE: Final = 1.05
"""Counters of one launch come from several replay passes: a rate this far above a peak is no proof of another path."""


@dataclass(frozen=True)
class Work:
    """What each measured launch did, arrays over launches.

    Attributes:
        paths: operations per path, rows as ``PATHS``; NaN not counted.
        ops: operations of all paths; NaN where a path that was used is not counted.
        moved: level -> bytes.
        seconds: duration.
        limits: seconds that each path needs at its peak, rows as ``paths``; NaN where the peak is not known.
        memory: seconds that the DRAM bytes need at peak bandwidth.
        half: packed FP16 instructions.
        tensor_unknown: True where Tensor Cores worked uncounted.
    """

    paths: Floats
    ops: Floats
    moved: dict[str, Floats]
    seconds: Floats
    limits: Floats
    memory: Floats
    half: Floats
    tensor_unknown: Bools

    @property
    def compute(self) -> Floats:
        """Least seconds of arithmetic: Tensor Core types one after the other, beside FP32, beside FP64."""
        tensor = len(TENSOR)
        used = np.where(self.paths > 0, self.limits, 0.0)
        return np.asarray(np.maximum(used[:tensor].sum(axis=0), used[tensor:].max(axis=0)), dtype=np.float64)


def work_of(columns: Columns, facts: GpuFacts) -> Work:
    """Operations, bytes and least times of ncu launches on one device."""
    seconds = columns("duration")
    cycles = columns("elapsed_cycles")
    paths = np.stack([*(tensor_ops(columns, dtype) for dtype in TENSOR_TYPES), *_vector(columns, cycles)])
    tensor, single, double = total_tensor_ops(columns), paths[-2], paths[-1]
    # Where Tensor Cores worked, uncollected FP32 counters are those of a prologue.
    vector = np.where(np.isnan(single) & (tensor > 0), 0.0, single) + np.nan_to_num(double)
    dram = coalesce(
        coalesce(columns("dram_bytes"), columns("dram_read_bytes") + columns("dram_write_bytes")),
        columns("dram_bytes_per_second") * seconds,
    )
    with np.errstate(all="ignore"):
        limits = paths / path_peaks(columns, facts)
        memory = dram / coalesce(measured_bandwidth(columns), np.full(columns.size, facts.bandwidth))
    return Work(
        paths=paths,
        ops=tensor + vector,
        moved={
            "DRAM": dram,
            "L2": columns("l2_bytes_per_second") * seconds,
            "L1": columns("l1_bytes_per_second") * seconds,
        },
        seconds=seconds,
        limits=limits,
        memory=memory,
        half=columns("fp16_instructions"),
        tensor_unknown=np.isnan(tensor) & ~np.isnan(single),
    )


def _vector(columns: Columns, cycles: Floats) -> list[Floats]:
    def per_cycle(dtype: str) -> Floats:
        fma, rest = columns(f"{dtype}_fma_per_cycle"), columns(f"{dtype}_add_per_cycle")
        return 2 * fma + rest + columns(f"{dtype}_mul_per_cycle")

    return [per_cycle("fp32") * cycles, per_cycle("fp64") * cycles]


def clock_of(columns: Columns, facts: GpuFacts) -> Floats:
    """SM clock per launch, Hz; NaN where it was not measured."""
    return np.fmin(columns("sm_clock"), facts.max_clock_hz)


def path_peaks(columns: Columns, facts: GpuFacts) -> Array:
    """Operations/s per path and launch: what the capture states, else what the GPU table says, at its clock."""
    clock = clock_of(columns, facts)
    tensor = [
        coalesce(columns(f"tensor_peak_{dtype}") * clock, _tensor_peak(columns, facts, dtype, clock))
        for dtype in TENSOR_TYPES
    ]
    return np.stack([*tensor, facts.peak("fp32", clock), _double(facts, clock)])


def _tensor_peak(columns: Columns, facts: GpuFacts, dtype: str, clock: Floats) -> Floats:
    """The table's peak with FP32 accumulation; the one with FP16 accumulation where a launch was faster than that."""
    if dtype != "fp16":
        return facts.peak("fp64_tc" if dtype == "fp64" else dtype, clock)
    wide, narrow = facts.peak("fp16", clock), facts.peak("fp16_f16acc", clock)
    with np.errstate(all="ignore"):
        faster = tensor_ops(columns, dtype) / columns("duration") > NOISE * wide
    return np.where(faster & ~np.isnan(narrow), narrow, wide)


def _double(facts: GpuFacts, clock: Floats) -> Floats:
    """FP64 on CUDA cores: a GPU's ``fp64`` peak may be that of its Tensor Cores."""
    best = facts.peak("fp64", clock)
    rates = facts.gpu.rates if facts.gpu else {}
    ratio = rates.get("fp64", 0.0) / max(rates.get("fp64_tc", 0.0), rates.get("fp64", 0.0), 1e-9)
    return best * ratio if ratio else best
