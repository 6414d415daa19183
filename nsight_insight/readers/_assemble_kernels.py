"""Kernel reports that do not hold every launch once: with an API call, or inside NVTX ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nsight_insight.readers._assemble_match import Part
from nsight_insight.readers._assemble_stack import Array, Stack

_PARTIAL: Final = ("cuda_kern_exec_trace", "cuda_kern_exec_sum", "nvtx_kern_sum")
"""Reports that leave out launches without an API record, and ``nvtx_kern_sum`` counts one in every range."""
_TRACE: Final = "cuda_gpu_trace"
_TOLERANCE: Final = 1e-3
_SLACK_NS: Final = 1.0

Totals = dict[str, tuple[int, float]]


def settle_partial(data: Stack, chosen: Sequence[Part]) -> list[Part]:
    """``chosen`` without partial reports whose kernels the complete ones hold too."""
    complete = [part for part in chosen if part.report not in _PARTIAL]
    kept = list(complete)
    for report in _PARTIAL:
        partial = [part for part in chosen if part.report == report]
        kept += [part for part in partial if not _covered(data, part, complete or kept)]
    return kept


def settle_incomplete(data: Stack, chosen: Sequence[Part]) -> list[Part]:
    """``chosen`` without tables that lost rows where another report of the same input holds all that is left of them.

    A log that was cut off holds part of a trace and the whole summary; added up, they would count twice. Cut at the
    end of a line, the trace shows no damage: see ``_cut_short``.
    """
    kept = list(chosen)
    for part in chosen:
        source = data.sources[part.source]
        others = [o for o in kept if o.report != part.report and data.sources[o.source].path == source.path]
        if (source.incomplete or _cut_short(data, part, others)) and _covered(data, part, others):
            kept.remove(part)
            names = ", ".join(sorted({other.report for other in others}))
            data.note(f"{part.report}: a table that lost rows is not counted, {names} holds the same work", part.source)
    return kept


def _cut_short(data: Stack, part: Part, others: Sequence[Part]) -> bool:
    """True for the trace at the end of an input beside a summary of more launches that fits it to the nanosecond.

    Fits: every duration lies between the shortest and the longest that the summary gives for its name.
    """
    if part.report != _TRACE or part.database or sum(other.launches for other in others) <= part.launches:
        return False
    columns, path = data.columns, data.sources[part.source].path
    beside = [source.path == path and number != part.source for number, source in enumerate(data.sources)]
    here = np.array(beside, dtype=bool)[columns["source"]]
    if columns["line"][part.rows].max() < columns["line"][here].max(initial=-1):
        return False
    limits = _limits(data, np.concatenate([other.rows for other in others]))
    for name, duration in zip(columns["name"][part.rows], columns["duration"][part.rows], strict=True):
        shortest, longest = limits.get(name, (np.nan, np.nan))
        if not shortest <= duration <= longest:
            return False
    return True


def _limits(data: Stack, rows: Array) -> dict[str, tuple[float, float]]:
    """Shortest and longest launch by name."""
    limits: dict[str, tuple[float, float]] = {}
    columns = (data.columns[name][rows] for name in ("name", "min", "max"))
    for name, low, high in zip(*columns, strict=True):
        known = limits.get(name, (np.inf, -np.inf))
        limits[name] = min(known[0], float(low)), max(known[1], float(high))
    return limits


def _covered(data: Stack, part: Part, others: Sequence[Part]) -> bool:
    """True when the other parts hold every kernel of this one, as often and as long at least."""
    if not others:
        return False
    whole = _totals(data, np.concatenate([other.rows for other in others]))
    rows = part.rows
    if part.report == "nvtx_kern_sum":
        rows = rows[_outermost(data, rows)]
    for name, (launches, time) in _totals(data, rows).items():
        held_launches, held_time = whole.get(name, (0, 0.0))
        slack = _TOLERANCE * held_time + _SLACK_NS * launches
        if launches > held_launches or time > held_time + slack:
            return False
    return True


def _totals(data: Stack, rows: Array) -> Totals:
    totals: Totals = {}
    columns = (data.columns[name][rows] for name in ("name", "count", "duration"))
    for name, count, duration in zip(*columns, strict=True):
        launches, time = totals.get(name, (0, 0.0))
        totals[name] = launches + int(count), time + float(np.nan_to_num(duration))
    return totals


def settle_nested_ranges(data: Stack) -> None:
    """Of ``nvtx_kern_sum`` alone, count a kernel in one range per thread only.

    The report lists a launch in every range around it and does not say which ranges enclose which, so a sum over
    ranges may count a launch several times. The range with most time is a lower bound that never does.
    """
    primary = data.columns["primary"]
    rows = np.flatnonzero(primary & (data.reports() == "nvtx_kern_sum"))
    keep = _outermost(data, rows)
    dropped = rows[~keep]
    if len(dropped):
        primary[dropped] = False
        text = (
            "nvtx_kern_sum lists a launch in every range around it: each kernel is counted in the range with most "
            "of its time only, which may be too little; add cuda_gpu_kern_sum for true totals"
        )
        data.note(text, int(data.columns["source"][dropped[0]]))


def _outermost(data: Stack, rows: Array) -> Array:
    """Rows outside any range, and per thread and kernel the row with most time."""
    ranges, durations = data.columns["nvtx"][rows], np.nan_to_num(data.columns["duration"][rows])
    keep: Array = np.array([text == "" for text in ranges], dtype=bool)
    best: dict[tuple[int, int, str], int] = {}
    keys = zip(*(data.columns[name][rows] for name in ("process", "thread", "name")), strict=True)
    for index, key in enumerate(keys):
        if not keep[index] and (key not in best or durations[index] > durations[best[key]]):
            best[key] = index
    keep[list(best.values())] = True
    return keep
