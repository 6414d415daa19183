"""Do printed starts tell what ran when? A tool that rounds them to milliseconds leaves an order, not a timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_STEP_SHARE: Final = 0.1
"""Largest last printed digit, as a part of the typical duration: gaps are then known to a tenth of a kernel."""
_OVERLAP_SHARE: Final = 0.01
"""Operations of one stream cannot overlap; overlaps beyond this part of their time are rounding."""
_PLACE: Final = ("process", "device", "context", "stream")


def coarse_starts(columns: Mapping[str, npt.NDArray[Any]], step: float | Floats) -> str:
    """Why the starts of a table cannot be used, "" when they can.

    Args:
        columns: activity columns with ``start`` and ``duration`` in ns.
        step: last printed digit of the starts in ns, one for all or one per row.
    """
    start, duration = columns["start"], columns.get("duration")
    if duration is None or len(start) < 2:
        return ""
    typical = float(np.nanmedian(duration))
    if float(np.nanmax(step)) > _STEP_SHARE * typical:
        return "they are rounded to a good part of what a row lasts"
    if _overlap(columns, start, duration) > _OVERLAP_SHARE * float(np.nansum(duration)):
        return "rows of one stream overlap by them"
    return ""


def _overlap(columns: Mapping[str, npt.NDArray[Any]], start: Floats, duration: Floats) -> float:
    """Time in ns that operations of one stream seem to share."""
    places = [columns[name] for name in _PLACE if name in columns]
    order = np.lexsort((start, *places))
    same = np.ones(len(order) - 1, dtype=bool)
    for place in places:
        same &= place[order][1:] == place[order][:-1]
    over = start[order][:-1] + duration[order][:-1] - start[order][1:]
    return float(np.nansum(np.where(same, np.clip(over, 0.0, None), 0.0)))
