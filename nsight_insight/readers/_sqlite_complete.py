"""Are all kernels there? What is missing on the GPU's side must not look like an idle GPU or a slow host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.readers._sqlite_api import LAUNCH, RUNTIME, Calls, key_of
from nsight_insight.readers._sqlite_database import Database, number_of
from nsight_insight.readers._sqlite_gpu import KERNEL
from nsight_insight.readers._sqlite_tables import Part

_GRAPH: Final = re.compile(r"cu(?:da)?(?:Graph|StreamBeginCapture|StreamEndCapture)")
"""Launches that are captured into a graph run no kernel of their own."""
MIN_LOST: Final = 0.05
"""Share of launches without a kernel from which on it matters; a capture that stops under load lacks a few."""


@dataclass(frozen=True)
class Gaps:
    """Launch calls and kernels without each other.

    Attributes:
        launches: kernel launch calls.
        lost: those without a kernel.
        holes: lost ones that a launch with a kernel follows.
        orphans: kernels without a call.
        first_lost: start of the first lost call in ns.
    """

    launches: int
    lost: int
    holes: int
    orphans: int
    first_lost: float


def settle_gaps(database: Database, calls: Calls, gpu: Sequence[Part]) -> Part | None:
    """The calls to keep, after saying what is missing.

    Where the GPU's side ends early, calls made from then on are left out. Where kernels are missing in between,
    start times of GPU work are left out, since gaps would not be idle time, and so are all calls: there is too much
    host time for the kernels that are there.
    """
    kernels = next((part for part in gpu if part.kind == Kind.KERNEL), None)
    if kernels is None or "correlation" not in kernels.rows.columns:
        return calls.part
    gaps = find_gaps(calls, kernels)
    if gaps is None or gaps.lost <= MIN_LOST * gaps.launches or gaps.orphans > MIN_LOST * gaps.launches:
        if gaps is not None and gaps.orphans:
            text = f"{number_of(gaps.orphans, 'kernel')} without a launch call, made outside the time that was kept"
            database.issues.append(Issue(Level.INFO, text, Location(database.path, table=KERNEL)))
        return calls.part
    lost = f"{gaps.lost:,} of {number_of(gaps.launches, 'kernel launch')} have no kernel in the export"
    if gaps.holes > MIN_LOST * gaps.launches:
        for part in gpu:
            part.rows.columns.pop("start", None)
        _note(database, f"{lost}: start times and API calls are left out, gaps would not be idle time")
        return None
    kept = calls.part.keep(calls.part.figure("start") < gaps.first_lost)
    left = len(calls.part) - len(kept)
    _note(database, f"{lost}: it ends before the host does, {number_of(left, 'API call')} from then on left out")
    return kept if len(kept) else None


def _note(database: Database, text: str) -> None:
    database.issues.append(Issue(Level.DATA_LOSS, text, Location(database.path, table=RUNTIME)))


def find_gaps(calls: Calls, kernels: Part) -> Gaps | None:
    """What launch calls and kernels lack of each other; None where calls need not have kernels (graph capture)."""
    names = calls.part.columns["name"]
    known = set(names)
    if any(_GRAPH.match(name) for name in known):
        return None
    launching = {name for name in known if LAUNCH.match(name)}
    launch = np.array([name in launching for name in names], dtype=bool)
    keys = np.unique(key_of(calls.part)[launch])
    start = calls.part.figure("start")[calls.rows[np.searchsorted(calls.keys, keys)]]
    lost = ~np.isin(keys, key_of(kernels))
    return Gaps(
        launches=len(keys),
        lost=int(lost.sum()),
        holes=int((lost & (start < start[~lost].max(initial=-np.inf))).sum()),
        orphans=int((calls.of(kernels) < 0).sum()),
        first_lost=float(start[lost].min(initial=np.inf)),
    )
