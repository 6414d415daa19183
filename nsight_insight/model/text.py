"""Numbers for people, and names made harmless."""

from __future__ import annotations

import math
import re
from typing import Final

from nsight_insight.model.units import BANDWIDTH, BYTES, FLOP_RATE, FREQUENCY, TIME, Dimension

_CONTROL: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-9;?]*[ -/]*[@-~]"  # colours, cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # window titles, hyperlinks, clipboard
    r"|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SCALES: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SUFFIX: Final = {BYTES: "B", BANDWIDTH: "B/s", FLOP_RATE: "FLOP/s", FREQUENCY: "Hz"}


def clean(name: str) -> str:
    """A text from a profile without escape sequences, control and bidirectional characters."""
    return _CONTROL.sub("", name)


def duration(seconds: float) -> str:
    """``1.234 s``, ``161.8 ms``, ``12.3 us``, ``840 ns``: four significant digits at most."""
    seconds = float(f"{seconds:.4g}")  # before the unit is chosen: 999.96 us reads 1.00 ms
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= factor:
            return f"{_digits(seconds / factor)} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def percent(fraction: float) -> str:
    """``83.3 %``; one decimal below 99.95 %, two below 1 %."""
    value = fraction * 100
    if value and abs(value) < 1:
        return f"{value:.2f} %"
    return f"{value:.1f} %"


def scaled(value: float, suffix: str) -> str:
    """``4.8 TB/s``: decimal prefixes."""
    for factor, prefix in _SCALES:
        if abs(value) >= factor:
            return f"{_digits(value / factor)} {prefix}{suffix}"
    return f"{_digits(value)} {suffix}".strip()


def counted(number: str, noun: str) -> str:
    """The noun in the number that follows ``number``: launch for 1, launches otherwise."""
    if number == "1":
        return noun
    return noun + ("es" if noun.endswith(("s", "ch", "sh", "x")) else "s")


def quantity(value: float | str | None, dimension: Dimension) -> str:
    """A value in SI units as a person would write it; unknown is said as such."""
    if isinstance(value, str):
        return clean(value)
    if value is None or math.isnan(value):
        return "unknown"
    if dimension == TIME:
        return duration(value)
    if dimension.fraction:
        return percent(value)
    if dimension in _SUFFIX:
        return scaled(value, _SUFFIX[dimension])
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return _digits(value)


def _digits(value: float) -> str:
    magnitude = abs(value)
    if magnitude >= 100:
        return f"{value:,.1f}" if magnitude < 1000 else f"{value:,.0f}"
    if magnitude >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if magnitude >= 0.1 else f"{value:.2g}"
