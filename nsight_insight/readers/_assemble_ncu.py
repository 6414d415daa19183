"""Launches profiled by ncu: once where two pages hold them, and behind nsys where both tools saw the program."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.readers._assemble_stack import Array, Stack, without_rows

_RAW, _DETAILS = "raw", "details"
_TOLERANCE: Final = 0.01
"""Pages print durations with three digits at least; two runs of a launch rarely agree so well in all of them."""
_IDENTITY: Final = ("process", "correlation", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")


def fold_pages(data: Stack) -> Stack:
    """The stack without rows of launches that another page or export holds with the same metrics.

    Vendor findings on them move to the row that stays. Rows with metrics of their own stay, but not primary.
    """
    twins = _twins(data)
    if not twins:
        return data
    columns = [set(source.columns) for source in data.sources]
    source = data.columns["source"]
    gone = np.zeros(len(data), dtype=bool)
    for row, other in twins.items():
        data.columns["primary"][row] = False
        gone[row] = columns[int(source[row])] <= columns[int(source[other])]
    data.vendor = [
        replace(finding, row=twins[finding.row]) if finding.row is not None and gone[finding.row] else finding
        for finding in data.vendor
    ]
    return without_rows(data, gone)


def _twins(data: Stack) -> dict[int, int]:
    """Row -> row of the same launch in an earlier table, raw pages before details pages.

    The key holds the process, so two captures of one program never match.
    """
    rows = np.concatenate([_launches(data, report) for report in (_RAW, _DETAILS)])
    durations, sources = data.columns["duration"], data.columns["source"]
    by_key: dict[tuple[object, ...], list[int]] = defaultdict(list)
    found: dict[int, int] = {}
    for row, key in zip(rows, _keys(data, rows), strict=True):
        for other in by_key[key]:
            # Unknown on either side compares as False: nothing speaks against the pair.
            apart = abs(durations[row] - durations[other]) > _TOLERANCE * durations[other]
            if sources[row] != sources[other] and not apart:
                found[int(row)] = other
                break
        else:
            by_key[key].append(int(row))
    return found


def _launches(data: Stack, report: str) -> Array:
    kernels = data.columns["kind"] == Kind.KERNEL.value
    rows: Array = np.flatnonzero(kernels & (data.tools() == "ncu") & (data.reports() == report))
    return rows


def _keys(data: Stack, rows: Array) -> list[tuple[object, ...]]:
    columns = []
    for name in _IDENTITY:
        values = data.columns[name][rows]
        columns.append(np.nan_to_num(values, nan=-1.0) if values.dtype == np.float64 else values)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def settle_launches(data: Stack) -> None:
    """Where nsys timed the program, its kernel rows stand for the work and ncu's only explain them."""
    columns = data.columns
    kernels = columns["primary"] & (columns["kind"] == Kind.KERNEL.value)
    profiled = data.tools() == "ncu"
    ncu, timed = np.flatnonzero(kernels & profiled), np.flatnonzero(kernels & ~profiled)
    if not len(ncu) or not len(timed):
        return
    if set(columns["base"][ncu]) & set(columns["base"][timed]):
        columns["primary"][ncu] = False
        return
    text = "no kernel of the ncu profile is in the nsys capture: taken for two programs, and their times are added"
    data.note(text, int(columns["source"][ncu[0]]))
