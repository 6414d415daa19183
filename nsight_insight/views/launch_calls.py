"""The API call that started each piece of GPU work: when it ended and on which thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities, codes_of
from nsight_insight.views.facts import Array, Floats, Ints


@dataclass(frozen=True)
class Calls:
    """Per piece of GPU work.

    Attributes:
        end: when its call returned, ns; the work's own start where it began before that; NaN unknown.
        row: activity row of the call, -1 where the capture lists none.
    """

    end: Floats
    row: Ints


def launch_calls(acts: Activities, rows: Ints) -> Calls:
    """The calls behind the GPU work at ``rows``, from the API trace, else from kernel execution times."""
    calls = timed_calls(acts)
    row = matching(acts, rows, calls)
    finish = acts.column("start") + np.nan_to_num(acts.column("duration"))
    end = np.where(row >= 0, finish[row], np.nan)
    end = np.where(np.isnan(end), _returned(acts, rows), end)
    return Calls(np.where(np.isnan(end), _elsewhere(acts, rows), end), row)


def timed_calls(acts: Activities) -> Ints:
    """API calls with start times."""
    return acts.rows(acts.kind(Kind.API) & acts.column("primary") & ~np.isnan(acts.column("start")))


def lanes(acts: Activities) -> Ints:
    """A number per thread at every row of the host side, -1 elsewhere."""
    known = acts.kind(Kind.API, Kind.RANGE, Kind.OSRT, Kind.MPI)
    codes = np.full(acts.size, -1, dtype=np.int64)
    codes[known], _ = codes_of(acts.process[known], acts.column("thread")[known])
    return codes


def matching(acts: Activities, rows: Ints, calls: Ints) -> Ints:
    """Row of the one of ``calls`` with the work's correlation id, the outermost where several share it; -1 for none."""
    correlation = acts.column("correlation")
    calls = calls[correlation[calls] >= 0]
    process = acts.process
    nobody = np.full(len(rows), -1, dtype=np.int64)
    if not len(calls):
        return nobody
    single = len(np.unique(process[calls])) == 1
    if not single and (process[rows] < 0).any():
        return nobody
    ids = _key(process[calls] * (not single), correlation[calls])
    wanted = _key(process[rows] * (not single), correlation[rows])
    order = np.lexsort((acts.column("start")[calls], ids))
    keys, first = np.unique(ids[order], return_index=True)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = (keys[place] == wanted) & (correlation[rows] >= 0)
    found: Ints = np.where(hit, calls[order[first[place]]], -1)
    return found


def _key(process: Array, correlation: Array) -> Ints:
    # Ids repeat across processes.
    return np.asarray(np.maximum(process, 0) * (1 << 32) + correlation, dtype=np.int64)


def _returned(acts: Activities, rows: Ints) -> Floats:
    """When the call returned, by the work's own queueing time."""
    queued = np.where(np.isnan(acts.column("queue_duration")[rows]), 0.0, acts.column("queue_duration")[rows])
    end = acts.column("start")[rows] - queued
    return np.where(np.isnan(acts.column("api_duration")[rows]), np.nan, end)


def _elsewhere(acts: Activities, rows: Ints) -> Floats:
    """When the call returned, by another report's row of the same kernel (device and start are equal)."""
    other = acts.rows(acts.kind(Kind.KERNEL) & ~np.isnan(acts.column("api_duration")) & ~acts.column("primary"))
    start = acts.column("start")
    if not len(other):
        return np.full(len(rows), np.nan)
    other = other[np.lexsort((start[other], acts.device[other]))]
    found = np.full(len(rows), np.nan)
    for device in np.unique(acts.device[rows]):
        mine, theirs = np.flatnonzero(acts.device[rows] == device), other[acts.device[other] == device]
        if len(theirs):
            place = np.minimum(np.searchsorted(start[theirs], start[rows[mine]]), len(theirs) - 1)
            same = start[theirs[place]] == start[rows[mine]]
            found[mine] = np.where(same, _returned(acts, theirs[place]), np.nan)
    return found
