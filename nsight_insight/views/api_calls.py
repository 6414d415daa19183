"""CUDA API calls by purpose: launching, waiting, allocating, loading code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.totals import Totals

if TYPE_CHECKING:
    from nsight_insight.views.facts import Array, Bools, Ints
    from nsight_insight.views.timeline import Window

FREEING: Final = re.compile(r"cuda(?:Free|HostUnregister)|cuMem(?:Free|HostUnregister|Unmap|Release|AddressFree)")
"""Allocation calls that give memory back."""
_SUFFIX: Final = re.compile(r"(?:_v\d+|_pts[zd]s?)+$")
_PURPOSES: Final = (
    ("launch", re.compile(r"cu(?:da)?(?:Launch(?!HostFunc)|GraphLaunch)")),
    ("sync", re.compile(r"cu(?:da)?(?:(?:Device|Stream|Event|Ctx|Thread)Synchronize$|Memcpy(?!\w*Async))")),
    (
        "malloc",
        re.compile(
            r"cuda(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister)"
            r"|cuMem(?:Alloc|Free|Host|Create|Map|Unmap|Release|Address|SetAccess)"
        ),
    ),
    ("load", re.compile(r"cu(?:da)?(?:Module|Library)(?:Load|Get)|cuLink|cuKernelGetFunction")),
)  # fmt: skip


def purpose(name: str) -> str:
    """``launch``, ``sync``, ``malloc``, ``load`` or "" for an API function in any version's spelling.

    A blocking ``cudaMemcpy`` is a sync: the call returns when the copy, and all work before it on the
    stream, is done.
    """
    plain = _SUFFIX.sub("", name)
    return next((label for label, pattern in _PURPOSES if pattern.match(plain)), "")


def purposes(acts: Activities, rows: Ints) -> Array:
    """Purpose of each row; classified once per distinct name."""
    import pandas as pd

    codes, names = pd.factorize(acts.column("name")[rows])
    table = np.array([purpose(str(name)) for name in names] or [""], dtype=object)
    return table[codes]


def api_facts(acts: Activities, rows: Ints, totals: Totals, steady: Window | None, unplaced: Ints) -> None:
    """Add API time and calls; no rows at all mean not captured.

    Args:
        acts: the profile's activities.
        rows: the device's primary API rows.
        totals: facts of the device.
        steady: its window of steady steps, None without.
        unplaced: primary API rows of unknown device; what calls like those took on this device is unknown.
    """
    if not len(rows):
        return
    kinds = purposes(acts, rows)
    blurred = set(purposes(acts, unplaced)) if len(unplaced) else set()
    duration = acts.seconds(rows)
    calls = acts.count(rows)
    if not len(unplaced):
        totals.add("api_time", rows, duration)
    for label, stem in (("launch", "launch_api"), ("sync", "sync_api"), ("malloc", "malloc_api")):
        if label not in blurred:
            totals.add(f"{stem}_time", rows, duration, kinds == label)
            totals.add(f"{stem}_calls", rows, calls, kinds == label)
    if "malloc" not in blurred:
        totals.add("free_api_calls", rows, calls, acts.named(rows, lambda name: bool(FREEING.match(name))))
    if "load" not in blurred:
        totals.add("module_load_time", rows, duration, kinds == "load")
    start = acts.column("start")[rows]
    if steady is None or np.isnan(start).any():
        return
    inside: Bools = (start >= steady.start) & (start < steady.end)
    if "malloc" not in blurred:
        totals.add("steady_malloc_api_time", rows, duration, inside & (kinds == "malloc"))
        totals.add("steady_malloc_api_calls", rows, calls, inside & (kinds == "malloc"))
    if "sync" not in blurred:
        totals.add("steady_sync_api_calls", rows, calls, inside & (kinds == "sync"))
