"""What the names and figures of memory operations say: kind, direction, true size."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.readers._nsys_cells import Floats

_OPERATION: Final = re.compile(r"(?:.*/)?\[CUDA (?:Unified Memory )?(memcpy|memset)\b[^\]]*\]", re.DOTALL)
_ENDS: Final = re.compile(r"([HDPA])to([HDPA])\b|(Host|Device|Peer|Array)-to-(Host|Device|Peer|Array)\b")
_MEGABYTE: Final = 1e6
_HALF_PRINTED: Final = 501.0
"""Half of the last printed digit of a megabyte (500 bytes), with room for the float's own rounding."""

MIGRATION_NAMES: Final = {
    "htod": "[CUDA memcpy Unified Host-to-Device]",
    "dtoh": "[CUDA memcpy Unified Device-to-Host]",
}


@lru_cache(maxsize=256)
def memory_kind(name: str) -> str:
    """``memcpy`` or ``memset`` for an operation's name in either wording, "" for a kernel's."""
    found = _OPERATION.fullmatch(name)
    return found[1] if found else ""


@lru_cache(maxsize=256)
def copy_direction(name: str) -> str:
    """``HtoD``, ``DtoH``, ``DtoD``, ``PtoP``, ``HtoH``, ``unified``; "" where the name does not say.

    A CUDA array lies in device memory, so it counts as the device.
    """
    if memory_kind(name) != Kind.MEMCPY:
        return ""
    if "Unified" in name:
        return "unified"
    found = _ENDS.search(name)
    if not found:
        return ""
    ends = [(found[1] or found[3])[0], (found[2] or found[4])[0]]
    return "to".join("D" if end == "A" else end for end in ends)


@lru_cache(maxsize=64)
def memory_place(text: str) -> str:
    """``Pageable`` -> ``pageable``; the static kinds count as what they are a kind of."""
    word = text.strip().lower().removesuffix(" static")
    return word if word in ("pageable", "pinned", "device", "managed", "array") else ""


def true_bytes(rounded: Floats, throughput: Floats, duration_ns: Floats) -> Floats:
    """Sizes in bytes from a size in MB with three decimals and the throughput printed beside it.

    nsys prints the throughput as bytes * floor(1e9 / duration), so the division gives the size back, to the
    byte up to 1 ms and better than the printed MB up to 1 s. The result is taken only where it agrees with the
    printed size.

    Args:
        rounded: bytes, from the MB column.
        throughput: byte/s.
        duration_ns: ns, printed exactly.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.floor(1e9 / duration_ns)
        estimate = np.rint(throughput / rate)
        return np.where(np.abs(estimate - rounded) <= _HALF_PRINTED, estimate, rounded)
