"""Values as nvprof prints them: a number with its unit glued on, or a bare one whose column names the unit.

nvprof's byte units are powers of 1024: 2,097,152 floats are ``8.0000MB``, and its ``GB/s`` follow from those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import Final

import numpy as np

TIMES: Final = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
"""Unit -> ns."""
BYTES: Final = {"B": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3}
RATES: Final = {f"{unit}/s": scale for unit, scale in BYTES.items()}
UNITS: Final = frozenset({*TIMES, *BYTES, *RATES, "%", ""})
EMPTY: Final = frozenset({"", "-"})
_QUANTITY: Final = re.compile(r"([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,2}))?\s*([A-Za-z/%]*)")
_EXACT: Final = 2.0**53


@dataclass(frozen=True)
class Quantity:
    """A number in base units (ns, byte, byte/s, fraction) and what its last printed digit is worth."""

    value: float
    step: float
    unit: str


def quantity(text: str, default: str = "") -> Quantity | None:
    """``1.6782ms`` in ns, ``8.0000KB`` in bytes, ``70.83%`` as a fraction; None for anything else.

    Args:
        text: the cell.
        default: the column's unit, for cells without one.
    """
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        return None
    digits, decimals, exponent, unit = found[1], found[2] or "", int(found[3] or 0), found[4] or default
    scale = _scale(unit)
    if scale is None:
        return None
    value, step = float(f"{digits}.{decimals or 0}e{exponent}") * scale, scale * 10.0 ** (exponent - len(decimals))
    if not isfinite(value):
        return None
    return Quantity(float(np.round(value, 6)) if unit in TIMES else value, step, unit)


def whole(value: float) -> bool:
    """True for numbers that an integer column can hold exactly."""
    return value == round(value) and abs(value) < _EXACT


def _scale(unit: str) -> float | None:
    if not unit:
        return 1.0
    if unit == "%":
        return 0.01
    for table in (TIMES, BYTES, RATES):
        if unit in table:
            return table[unit]
    return None
