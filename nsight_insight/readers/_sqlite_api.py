"""CUDA API calls, and the call that started each piece of GPU work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import Ints
from nsight_insight.readers._sqlite_database import Database, plain
from nsight_insight.readers._sqlite_devices import distinct_pairs
from nsight_insight.readers._sqlite_nvtx import Ranges, paths_at, thread_of
from nsight_insight.readers._sqlite_sums import sum_up, too_many
from nsight_insight.readers._sqlite_tables import THREAD, TIMES, Part, read_part, whole

RUNTIME: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
"""Holds calls of the runtime and of the driver API."""
REPORT: Final = "cuda_api_trace"
API_FIELDS: Final = (
    *TIMES,
    *THREAD,
    plain("correlation", "correlationId"),
    plain("_name", "nameId"),
    plain("_result", "returnValue"),
)
LAUNCH: Final = re.compile(r"cu(?:da)?Launch(?!HostFunc)\w*")
NO_THREAD: Final = -2


def read_calls(database: Database) -> Part | None:
    """API calls, None without any; summed up by function and process where they are too many."""
    if too_many(database, RUNTIME):
        groups = [item for item in API_FIELDS if item.name in ("process", "_name")]
        part = sum_up(database, RUNTIME, "cuda_api_sum", Kind.API, groups)
    else:
        part = read_part(database, RUNTIME, REPORT, Kind.API, API_FIELDS)
    if part is not None:
        part.columns["name"] = database.names(part.figure("_name"))
        part.labels["name"] = "nameId"
    return part


def add_devices(calls: Part, gpu: Sequence[Part], waits: Part | None = None) -> None:
    """Give calls a device: that of their process where it used only one, else that of what they started or waited for.

    A process that used several sets the device of a thread by calls that nsys does not record: its allocations and
    whatever else has no work with its correlation id stay unknown.
    """
    used: dict[int, set[int]] = {}
    for part in gpu:
        for process, device in distinct_pairs(whole(part.figure("process")), part.columns["device"]):
            used.setdefault(process, set()).add(device)
    processes = whole(calls.figure("process"))
    devices = _devices_of_work(calls, [*gpu, *([waits] if waits is not None else [])])
    for process, found in used.items():
        if len(found) == 1:
            devices[processes == process] = next(iter(found))
    calls.columns["device"] = devices


def _devices_of_work(calls: Part, parts: Sequence[Part]) -> Ints:
    """Device of the work with each call's correlation id; -1 without any, or where it is of several devices."""
    none: Ints = np.full(len(calls), -1, dtype=np.int64)
    keys = np.concatenate([none[:0], *(key_of(part) for part in parts)])
    devices = np.concatenate([none[:0], *(part.columns["device"] for part in parts)])
    known = (keys >= 0) & (devices >= 0)
    if not known.any():
        return none
    order = np.lexsort((devices[known], keys[known]))
    keys, devices = keys[known][order], devices[known][order]
    wanted = key_of(calls)
    first = np.minimum(np.searchsorted(keys, wanted, side="left"), len(keys) - 1)
    last = np.maximum(np.searchsorted(keys, wanted, side="right") - 1, 0)
    return np.where((keys[first] == wanted) & (devices[first] == devices[last]), devices[first], -1)


@dataclass(frozen=True)
class Calls:
    """API calls by process and correlation id.

    Attributes:
        keys: ``key_of`` each call, ascending and without repeats.
        rows: the call of each key; where a runtime call and the driver call inside it share an id, the outer.
    """

    part: Part
    keys: Ints
    rows: Ints

    def of(self, part: Part) -> Ints:
        """Row of the call that started each piece of work, -1 where the capture has none."""
        if not len(self.keys):
            return np.full(len(part), -1, dtype=np.int64)
        wanted = key_of(part)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where((self.keys[place] == wanted) & (wanted >= 0), self.rows[place], -1)


def index_calls(part: Part) -> Calls:
    """The calls of a table, ready to be joined."""
    keys = key_of(part)
    order = np.lexsort((part.figure("start"), keys))
    keys, first = np.unique(keys[order], return_index=True)
    return Calls(part, keys, order[first])


def key_of(part: Part) -> Ints:
    """Process and correlation id in one number, negative without an id: ids repeat across processes."""
    process, correlation = whole(part.figure("process")), whole(part.figure("correlation"))
    return np.where(correlation >= 0, np.maximum(process, 0) << 32 | correlation, -1)


def add_launches(part: Part, calls: Calls, ranges: Ranges | None) -> None:
    """Duration of the launching call, time in the queue, and the ranges open around the call.

    Nodes of a graph get no such times: one call starts all of them.
    """
    row = calls.of(part)
    found = row >= 0
    start, length = calls.part.figure("start"), calls.part.figure("duration")
    alone = found & ~(part.figure("_node") > 0)
    queue = part.figure("start") - (start + length)[row]
    part.columns["api_duration"] = np.where(alone, length[row], np.nan)
    part.columns["queue_duration"] = np.where(alone & (queue >= 0), queue, np.nan)
    if ranges is not None:
        thread = np.where(found, thread_of(calls.part)[row], NO_THREAD)
        part.columns["nvtx"] = paths_at(ranges, thread, start[row])
