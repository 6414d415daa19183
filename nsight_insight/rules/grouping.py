"""How a fact of several subjects becomes one number."""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.views.facts import FactTable, Ints

_SUMMED: Final = frozenset(
    {"duration", "launches", "time_share", "dram_bytes_moved", "dram_bytes", "fusible_time", "norm_fusible_time"}
)


def group_value(name: str, values: np.ndarray, rows: Ints, table: FactTable) -> float:
    """A numeric fact over a group: totals add up, everything else is its time-weighted mean (NaN unknown)."""
    picked = values[rows] if len(values) > 1 else np.repeat(values, len(rows))
    if name in _SUMMED:
        if name == "duration":
            return float(table.time[rows].sum())
        return float(np.nansum(picked)) if not np.isnan(picked).all() else float("nan")
    known = ~np.isnan(picked)
    if not known.any():
        return float("nan")
    first = float(picked[known][0])
    if (picked[known] == first).all():
        return first  # a mean of equal values may differ from them in the last bit
    weights = np.where(table.time[rows][known] > 0, table.time[rows][known], 1e-12)
    return float(np.average(picked[known], weights=weights))
