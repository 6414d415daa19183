"""Numbers and names of a report for people, built on ``model.text``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from nsight_insight.catalog.names import base_name
from nsight_insight.model.text import clean, duration, percent
from nsight_insight.model.text import quantity as si_quantity
from nsight_insight.model.units import NUMBER, parse_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.model.finding import Quantity
    from nsight_insight.model.issues import Location

_TIME_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
_TAILS: Final = (1 / 6, 1 / 2, 0.0, 2 / 3)
_LEAST_VEHICLE: Final = 6


def time(ns: float | None) -> str:
    """``161.8 ms`` from nanoseconds; None is ``unknown``."""
    return "unknown" if ns is None else duration(ns / 1e9)


def times(ns: Sequence[float]) -> list[str]:
    """Times of one column: the unit of the largest, one decimal, so that they can be compared at a glance.

    A few seconds get three decimals: a part of a second is still much.
    """
    largest = max(ns, default=0.0)
    factor, unit = next(((f, u) for f, u in _TIME_UNITS if largest / 1e9 >= f), (1e-9, "ns"))
    digits = 3 if unit == "s" and largest < 100e9 else 1
    # As model.text.duration rounds, so that a column and a sentence agree.
    return [f"{float(f'{value / 1e9:.4g}') / factor:,.{digits}f} {unit}" for value in ns]


def share(fraction: float) -> str:
    """``83 %``: as many digits as an estimate deserves."""
    if abs(fraction) >= 0.095:
        return f"{fraction * 100:.0f} %"
    if abs(fraction) >= 0.0095:
        return f"{fraction * 100:.1f} %"
    return "0 %" if not fraction else percent(fraction)


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 launch``, ``3,120 launches``."""
    word = noun if number == 1 else plural or f"{noun}{'es' if noun.endswith(('s', 'ch', 'sh', 'x')) else 's'}"
    return f"{number:,} {word}"


def value(quantity: Quantity) -> str:
    """A quantity's value as a person would write it; its unit decides how."""
    unit = parse_unit(quantity.unit)
    return si_quantity(quantity.value, unit.dimension if unit else NUMBER)


def file_name(path: str) -> str:
    """A path without its folders."""
    return clean(re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path)


def place(location: Location, *, full: bool = False) -> str:
    """``file:line:column field``; the file without its folders unless ``full``."""
    text = str(location if full else replace(location, path=file_name(location.path)))
    return clean(f"{text} {location.field}".strip())


def block(text: str) -> list[str]:
    """Lines of a text that keeps its line breaks (code), each made harmless."""
    return [clean(line.expandtabs(4)).rstrip() for line in text.rstrip().split("\n")]


def flow(text: str) -> str:
    """One line of a text that does not keep its line breaks, made harmless."""
    return " ".join(filter(None, map(clean, text.split())))


def kernels(names: Sequence[str], width: int) -> list[str]:
    """Kernel names, short and in at most ``width`` columns each, kept different where they differ.

    A name such as ``vectorized_elementwise_kernel[gelu float]`` loses the vehicle's end before what it
    carries; plain names, which differ at both ends, lose their middle.
    """
    plain = [base_name(clean(name)) for name in names]
    best = [_short(name, width) for name in plain]
    for tail in _TAILS:
        tried = [_short(name, width, tail) for name in plain]
        if len(set(tried)) > len(set(best)):
            best = tried
    return best


def _short(name: str, width: int, tail: float | None = None) -> str:
    vehicle, bracket, load = name.partition("[")
    room = width - len(load) - 1
    if bracket and room >= _LEAST_VEHICLE:
        return cut(vehicle, room, 0.0) + bracket + load
    return cut(name, width, tail)


def cut(text: str, width: int, tail: float | None = None) -> str:
    """``text`` in at most ``width`` columns, with an ellipsis where something is left out.

    ``tail`` is the part of the columns kept for the end: a third, or none for template names.
    """
    if len(text) <= width:
        return text
    if tail is None:
        tail = 0.0 if "<" in text[: width - 4] else 1 / 3
    keep = int((width - 1) * tail)
    return text[: width - 1 - keep] + "…" + text[len(text) - keep :]
