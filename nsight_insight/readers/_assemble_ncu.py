"""Launches profiled by ncu: once where two pages hold them, and behind nsys where both tools saw the program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import VendorFinding
from nsight_insight.readers._assemble_stack import Array, Stack, without_rows

_PAGES: Final = ("report", "raw", "details")
"""The same launches in binary reports, raw pages and details pages: in this order, the first has the finest numbers."""
_SUMMARY: Final = "summary"
_TOLERANCE: Final = 0.01
"""Pages print durations with three digits at least; two runs of a launch rarely agree so well in all of them."""
_IDENTITY: Final = frozenset({"name", "process", "correlation", "context", "stream", "thread", "device", "cc"})
"""Columns that tell launches apart; that one page lacks some of them costs nothing."""


def fold_pages(data: Stack) -> Stack:
    """The stack without rows of launches that another page or export holds with the same metrics.

    Vendor findings on them move to the row that stays. Rows with metrics of their own stay, but not primary.
    """
    twins = _twins(data)
    if not twins:
        return data
    columns = [set(source.columns) - _IDENTITY for source in data.sources]
    source = data.columns["source"]
    gone = np.zeros(len(data), dtype=bool)
    for row, other in twins.items():
        data.columns["primary"][row] = False
        gone[row] = columns[int(source[row])] <= columns[int(source[other])]
    data.vendor = _each_once(data.vendor, twins, gone)
    return without_rows(data, gone)


def _each_once(vendor: Sequence[VendorFinding], twins: Mapping[int, int], gone: Array) -> list[VendorFinding]:
    """Findings on launches of two pages: those of the row that stands for both, of the other one if it has none."""
    told = {finding.row for finding in vendor}
    kept = []
    for finding in vendor:
        other = twins.get(finding.row) if finding.row is not None else None
        if other is None:
            kept.append(finding)
        elif other not in told:
            kept.append(replace(finding, row=other) if gone[finding.row] else finding)
    return kept


def _twins(data: Stack) -> dict[int, int]:
    """Row -> row of the same launch in an earlier table or on a page with finer numbers.

    The key holds the process, so two captures of one program never match.
    """
    rows = np.concatenate([_launches(data, report) for report in _PAGES])
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
    columns = [data.columns[name][rows] for name in ("process", "correlation")]
    columns += [_threads(data, rows, shape) for shape in ("grid", "block")]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _threads(data: Stack, rows: Array, shape: str) -> Array:
    """Size of grid or block, -1 unknown; details pages before 2022.4 print nothing else of their shape."""
    x, y, z = (data.columns[f"{shape}_{axis}"][rows] for axis in "xyz")
    size: Array = np.nan_to_num(x * np.nan_to_num(y, nan=1.0) * np.nan_to_num(z, nan=1.0), nan=-1.0)
    return size


def _settle_summaries(data: Stack) -> None:
    """Summaries of launches that other pages hold one by one only describe them once more."""
    columns, reports = data.columns, data.reports()
    kernels = columns["primary"] & (columns["kind"] == Kind.KERNEL.value) & (data.tools() == "ncu")
    summaries = kernels & (reports == _SUMMARY)
    tables = [np.flatnonzero(kernels & ~summaries)]
    for source in np.unique(columns["source"][summaries]).tolist():
        rows = np.flatnonzero(summaries & (columns["source"] == source))
        if any(_same_work(data, rows, other) for other in tables if len(other)):
            columns["primary"][rows] = False
        else:
            tables.append(rows)


def _same_work(data: Stack, rows: Array, other: Array) -> bool:
    """True where every kernel and shape of ``rows`` ran as often and as long among ``other``."""
    mine, theirs = (_work(data, part) for part in (rows, other))
    return all(
        key in theirs and count == theirs[key][0] and not abs(time - theirs[key][1]) > _TOLERANCE * theirs[key][1]
        for key, (count, time) in mine.items()
    )


def _work(data: Stack, rows: Array) -> dict[tuple[object, ...], tuple[int, float]]:
    """Launches and time by kernel and shape."""
    found: dict[tuple[object, ...], tuple[int, float]] = {}
    shapes = (_threads(data, rows, shape).tolist() for shape in ("grid", "block"))
    columns = [data.columns[name][rows].tolist() for name in ("count", "duration", "base")]
    for count, time, *key in zip(*columns, *shapes, strict=True):
        launches, total = found.get(tuple(key), (0, 0.0))
        found[tuple(key)] = launches + int(count), total + time
    return found


def settle_launches(data: Stack) -> None:
    """Where nsys timed the program, its kernel rows stand for the work and ncu's only explain them."""
    _settle_summaries(data)
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
