"""How a kernel converts between types: by what family, which way, or on the side of other work."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nsight_insight.model.ledger import ConversionKind

FAMILIES: Final = ("cast", "layout", "quantize")
_BITS: Final = {
    **dict.fromkeys(("fp64", "int64", "uint64", "complex64"), 64),
    **dict.fromkeys(("fp32", "tf32", "int32", "uint32"), 32),
    **dict.fromkeys(("fp16", "bf16", "16bit", "int16", "uint16"), 16),
    **dict.fromkeys(("fp8", "int8", "uint8", "bool"), 8),
    **dict.fromkeys(("fp4", "int4"), 4), "complex128": 128,
}  # fmt: skip
_FUSED: Final = re.compile(r"(?:Load|Store)WithCast\b|^triton_\w*_to_copy_")
"""PyTorch's type promotion loads or stores through a cast; Inductor lists ``_to_copy`` among what it fused."""
_DEQUANTIZE: Final = re.compile(r"dequant", re.IGNORECASE)


@lru_cache(maxsize=4096)
def conversion_kind(family: str, dtype_in: str, dtype_out: str, name: str) -> ConversionKind | None:
    """What kind of conversion a kernel is; None when it is none that its name shows.

    A cast to FP32 or FP64 from a type that its name does not say counts as up: PyTorch names the result only, and
    down to FP32 would be from FP64, which training hardly ever holds.
    """
    if family == "quantize":
        return "dequantize" if _DEQUANTIZE.search(name) else "quantize"
    if family == "layout":
        return "layout"
    if family == "cast":
        return _direction(dtype_in, dtype_out)
    return "fused" if _FUSED.search(name) else None


def _direction(dtype_in: str, dtype_out: str) -> ConversionKind:
    source, target = _BITS.get(dtype_in, 0), _BITS.get(dtype_out, 0)
    if not source:
        return "cast up" if dtype_out in ("fp32", "fp64") else "cast down" if 0 < target <= 16 else "cast"
    if not target or source == target:
        return "cast"
    return "cast down" if target < source else "cast up"
