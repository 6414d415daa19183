"""Sizes of copies and sets from ``cuda_gpu_mem_size_sum`` beside the reports that have their times."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.readers._assemble_stack import Array, Stack

_SIZES: Final = "cuda_gpu_mem_size_sum"

Key = tuple[str, int]


def settle_sizes(data: Stack) -> None:
    """Give summary rows without a size the one of the same operation and count; size rows step back.

    A size row stays primary only where no other report holds that operation at all.
    """
    columns = data.columns
    memory = np.isin(columns["kind"], (Kind.MEMCPY.value, Kind.MEMSET.value))
    sizes = np.flatnonzero(memory & (data.reports() == _SIZES))
    timed = np.flatnonzero(memory & np.isfinite(columns["duration"]))
    if not len(sizes):
        return
    held = {str(base) for base in columns["base"][timed]}
    columns["primary"][sizes] = [str(base) not in held for base in columns["base"][sizes]]
    by_key: dict[Key, list[float]] = defaultdict(list)
    for row in sizes.tolist():
        by_key[_key(data, row)].append(float(columns["bytes"][row]))
    _fill(data, timed[np.isnan(columns["bytes"][timed])], {key: sorted(found) for key, found in by_key.items()})


def _key(data: Stack, row: int) -> Key:
    return str(data.columns["base"][row]), int(data.columns["count"][row])


def _fill(data: Stack, rows: Array, sizes: dict[Key, list[float]]) -> None:
    """Larger sizes go to longer operations, so that the order of the inputs does not matter."""
    used: dict[tuple[str, Key], int] = defaultdict(int)
    reports = data.reports()
    for row in rows[np.argsort(data.columns["duration"][rows], kind="stable")].tolist():
        key = _key(data, row)
        if key in sizes:
            place = used[reports[row], key]
            used[reports[row], key] += 1
            data.columns["bytes"][row] = sizes[key][place % len(sizes[key])]
