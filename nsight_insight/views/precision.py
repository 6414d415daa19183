"""Which peak a kernel is measured against: its operand type and the path it takes."""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.views.activity import codes_of
from nsight_insight.views.facts import Array, Bools
from nsight_insight.views.work import TENSOR_TYPES, Columns, tensor_ops

_EITHER_PATH: Final = frozenset({"fp64", "tf32"})
_ON_TENSOR_CORES: Final = {
    "fp32": "tf32",
    "fp16": "fp16",
    "16bit": "fp16",
    "bf16": "bf16",
    "fp8": "fp8",
    "int8": "int8",
}
_ON_CUDA_CORES: Final = {"fp32": "fp32"}


def own_type(dtype: Array, tensor_core: Array, columns: Columns) -> Array:
    """The peak's name per subject, None when neither counters nor the kernel's name tell.

    Counters of tensor operations say more than names. Narrow types on CUDA cores stay unknown: whether they
    are computed as packed halves or in FP32 is not visible.
    """
    ops = np.stack([tensor_ops(columns, name) for name in TENSOR_TYPES])
    counted: Bools = np.nansum(ops, axis=0) > 0
    largest = np.array(TENSOR_TYPES, dtype=object)[np.argmax(np.nan_to_num(ops), axis=0)]
    none: Bools = ~np.isnan(ops).all(axis=0) & ~counted & (tensor_core != "yes")
    tensor = np.where(none, "no", tensor_core)
    codes, first = codes_of(dtype, tensor)
    by_name = np.empty(len(first), dtype=object)
    by_name[:] = [_by_name(dtype[place], tensor[place]) for place in first]
    return np.where(counted, largest, by_name[codes])


def _by_name(dtype: str | None, tensor_core: str | None) -> str | None:
    if dtype in _EITHER_PATH:
        return dtype
    path = {"yes": _ON_TENSOR_CORES, "no": _ON_CUDA_CORES}.get(tensor_core or "", {})
    return path.get(dtype or "")
