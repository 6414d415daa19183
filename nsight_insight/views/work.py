"""Operations and DRAM bytes of each ncu launch, from whichever counters were collected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.views.facts import Array, Floats

TENSOR_TYPES: Final = ("fp16", "bf16", "tf32", "fp8", "int8", "fp64")
IDLE_TENSOR: Final = 0.02
"""Share of cycles up to which a busy tensor pipe is no matrix work: packed half arithmetic (HFMA2.MMA) runs
on it on 8.0 and 9.0; layer-norm and softmax kernels read 1.3 % with no tensor operation at all (H200)."""


@dataclass(frozen=True)
class Columns:
    """Named arrays of one length; a name that is not there is unknown everywhere."""

    values: Mapping[str, Array]
    size: int

    def __call__(self, name: str) -> Floats:
        """The column, NaN where unknown."""
        found = self.values.get(name)
        return np.full(self.size, np.nan) if found is None else found

    def text(self, name: str) -> Array:
        """A text column, None where unknown."""
        found = self.values.get(name)
        return np.full(self.size, None, dtype=object) if found is None else found


def coalesce(first: Array, second: Array) -> Floats:
    """``first`` where known, else ``second``."""
    return np.where(np.isnan(first), second, first)


def tensor_ops(columns: Columns, dtype: str) -> Floats:
    """Tensor operations of one operand type; the counter counts 2 per multiply-add."""
    return coalesce(columns(f"tensor_ops_{dtype}"), columns(f"tensor_rate_{dtype}") * columns("elapsed_cycles"))


def total_tensor_ops(columns: Columns) -> Floats:
    """Tensor operations of all types.

    0 where the pipe was idle or the kernel is no tensor kernel by name; unknown where no counter of the
    kernel's type was collected.
    """
    parts = np.stack([tensor_ops(columns, dtype) for dtype in TENSOR_TYPES])
    known = ~np.isnan(parts).all(axis=0)
    total = np.where(known, np.nansum(parts, axis=0), np.nan)
    by_name = columns.text("tensor_core")
    idle = (columns("tensor_active") <= IDLE_TENSOR) | (np.isnan(columns("tensor_active")) & (by_name == "no"))
    total = np.where(np.isnan(total) & idle, 0.0, total)
    busy = (columns("tensor_active") > IDLE_TENSOR) | (by_name == "yes")
    return np.where((total == 0) & busy, np.nan, total)


def vector_flop(columns: Columns) -> Floats:
    """FP32 and FP64 operations on CUDA cores; a fused multiply-add counts 2."""
    per_cycle = {
        dtype: columns(f"{dtype}_add_per_cycle") + columns(f"{dtype}_mul_per_cycle")
        + 2 * columns(f"{dtype}_fma_per_cycle")
        for dtype in ("fp32", "fp64")
    }  # fmt: skip
    return (per_cycle["fp32"] + coalesce(per_cycle["fp64"], np.zeros(1))) * columns("elapsed_cycles")


def work_columns(columns: Columns) -> dict[str, Floats]:
    """What adds up over launches: ``work_tensor``, ``work_ops`` (all operations) and ``work_bytes`` (DRAM)."""
    tensor, vector = total_tensor_ops(columns), vector_flop(columns)
    only_tensor = np.isnan(vector) & (tensor > 0)
    return {
        "work_tensor": tensor,
        "work_ops": np.where(only_tensor, tensor, tensor + vector),
        "work_bytes": coalesce(columns("dram_bytes"), columns("dram_read_bytes") + columns("dram_write_bytes")),
    }
