"""A device's kernel time by family, precision and role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nsight_insight.catalog.conversions import FAMILIES as CONVERSIONS
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import FAMILIES, Array, Bools, Ints
from nsight_insight.views.optimizer import find_foreach, find_loop
from nsight_insight.views.totals import Totals

MATRIX: Final = ("gemm", "conv", "attention")
NARROW: Final = ("fp16", "bf16", "16bit", "fp8", "int8", "int4", "fp4")
"""Operand types of at most 16 bits."""
BYTES: Final = NARROW[3:]
"""Those of at most 8 bits."""
TINY: Final = 10e-6
"""Seconds: below this a launch costs the host about as much as it gives the GPU to do (eager PyTorch needs
5 to 10 us per operator)."""
MASTER_CAST: Final = 12 / 16
"""Bytes per parameter of casting a weight down and its gradient up (4+2 each way), over the bytes that
addcdiv moves (three FP32 reads, one write); both are bound by DRAM."""


def one_of(values: Array, wanted: Sequence[str]) -> Bools:
    """True where a text is one of a few."""
    found = np.zeros(len(values), dtype=bool)
    for text in wanted:
        found |= values == text
    return found


def kernel_facts(acts: Activities, rows: Ints, totals: Totals) -> None:
    """Add the sums over ``rows``, the kernels of one device."""
    duration = acts.seconds(rows)
    count = acts.count(rows)
    codes = acts.name_codes[0][rows]
    totals.add("kernel_time", rows, duration)
    totals.add("launches", rows, count)
    totals.set("mean_kernel", totals.values["kernel_time"] / max(totals.values["launches"], 1.0))
    totals.set("kernels", float(len(np.unique(codes))))
    family = acts.family(rows)
    rest = np.ones(len(rows), dtype=bool)
    for name in FAMILIES:
        mask = family == name if name != "unknown" else rest
        rest = rest & ~mask
        totals.add(f"time_{name}", rows, duration, mask)
        totals.add(f"launches_{name}", rows, count, mask)
    _precision(acts, rows, totals, duration, family)
    tiny = duration < TINY * count
    totals.add("tiny_time", rows, duration, tiny)
    totals.add("tiny_launches", rows, count, tiny)
    _optimizer(acts, rows, totals, duration, count)


def _precision(acts: Activities, rows: Ints, totals: Totals, duration: Array, family: Array) -> None:
    dtype, tensor = acts.column("dtype_in")[rows], acts.column("tensor_core")[rows]
    matrix = one_of(family, MATRIX)
    fp32 = one_of(family, MATRIX[:2]) & (dtype == "fp32") & (tensor == "no")
    totals.add("scaler_time", rows, duration, family == "amp")
    totals.add("matrix_time", rows, duration, matrix)
    totals.add("tensor_time", rows, duration, tensor == "yes")
    totals.add("fp32_gemm_time", rows, duration, fp32)
    narrow, converts = one_of(dtype, NARROW), one_of(family, CONVERSIONS)
    totals.add("half_matrix_time", rows, duration, matrix & narrow)
    sixteen = one_of(dtype, ("fp16", "bf16", "16bit")) & one_of(family, MATRIX[:2]) & (tensor == "no")
    totals.add("half_cuda_core_time", rows, duration, sixteen)
    totals.add("half_other_time", rows, duration, narrow & ~matrix & ~converts)
    totals.add("fp32_collective_time", rows, duration, (family == "collective") & (dtype == "fp32"))
    totals.add("byte_matrix_time", rows, duration, matrix & one_of(dtype, BYTES))
    totals.add("narrowing_time", rows, duration, (family == "cast") & (dtype == "fp32"))
    totals.set("fp16_kernels", float(len(np.unique(acts.name_codes[0][rows][dtype == "fp16"]))))


def _optimizer(acts: Activities, rows: Ints, totals: Totals, duration: Array, count: Array) -> None:
    loop = find_loop(acts, rows)
    member: Bools = loop.members
    totals.add("optimizer_loop_time", rows, duration, member)
    totals.add("optimizer_loop_launches", rows, count, member)
    totals.add("foreach_optimizer_time", rows, duration, find_foreach(acts, rows))
    totals.set("optimizer_loop_kernels", float(len(np.unique(acts.name_codes[0][rows][member]))))
    if loop.addcdiv.any() and totals.values["half_matrix_time"] > 0:
        totals.set("master_cast_time", MASTER_CAST * float(np.nansum(duration[loop.addcdiv])))
