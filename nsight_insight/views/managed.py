"""Managed memory: kernel time during which its pages were being brought to the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import NS, Activities
from nsight_insight.views.copies import copies_captured
from nsight_insight.views.coverage import Intervals, covered, merged
from nsight_insight.views.totals import Totals

if TYPE_CHECKING:
    from nsight_insight.views.facts import Bools, Floats, Ints

AHEAD: Final = "user prefetch"
"""The cause of migrations that the program asked for; kernels do not wait for those of pages they do not touch yet."""
BULK: Final = 65536.0
"""Bytes from which on one migration shows what the link can do."""


def managed_facts(acts: Activities, kernels: Ints, copies: Ints, here: Bools, totals: Totals) -> None:
    """Add what page faults and migrations cost a device.

    Args:
        acts: the profile's activities.
        kernels: the device's kernels.
        copies: its copies.
        here: True for every activity row of the device.
        totals: what to add to; without copies in the input nothing is added.
    """
    if not len(copies) and not copies_captured(acts):
        return
    moved = copies[acts.column("direction")[copies] == "unified"]
    totals.add("migration_time", moved, acts.seconds(moved))
    totals.add("migrated_bytes", moved, acts.column("bytes")[moved])
    if not len(moved):
        totals.set("migration_kernel_time", 0.0)
        return
    gpu, cpu = _faults(acts, here)
    if np.isnan(acts.column("start")[np.concatenate((kernels, moved))]).any():
        return
    if len(cpu):
        totals.add("cpu_faults", cpu, acts.count(cpu))
    running = _merged(acts, kernels)
    if len(gpu):
        totals.add("gpu_faults", gpu, acts.count(gpu))
        totals.set("fault_kernel_time", _shared(running, _merged(acts, gpu)) * NS, int(gpu[0]))
    causes = acts.column("cause")[moved]
    if (causes == "").any():
        return
    demanded = moved[causes != AHEAD]
    totals.set("migration_kernel_time", _shared(running, _merged(acts, demanded)) * NS, int(moved[0]))
    rate = _fastest(acts, moved)
    inside = covered(_intervals(acts, demanded), running) > 0
    totals.set("bulk_migration_time", float(acts.column("bytes")[demanded[inside]].sum()) / rate)


def _faults(acts: Activities, here: Bools) -> tuple[Ints, Ints]:
    """Rows of page faults of the GPU and of the host."""
    rows = acts.rows(acts.kind(Kind.FAULT) & acts.column("primary") & here)
    on_gpu = acts.named(rows, lambda name: name.startswith("[GPU"))
    return rows[on_gpu], rows[~on_gpu]


def _fastest(acts: Activities, moved: Ints) -> float:
    """The fastest migration of the capture in byte/s, NaN where all are small."""
    size, time = acts.column("bytes")[moved], acts.seconds(moved)
    large = (size >= BULK) & (time > 0)
    return float((size[large] / time[large]).max()) if large.any() else float("nan")


def _intervals(acts: Activities, rows: Ints) -> Intervals:
    start: Floats = np.asarray(acts.column("start")[rows], dtype=np.float64)
    return Intervals(start, start + np.nan_to_num(acts.column("duration")[rows]), np.zeros(len(rows), dtype=np.int64))


def _merged(acts: Activities, rows: Ints) -> Intervals:
    whole = _intervals(acts, rows)
    start, end = merged(whole.start, whole.end)
    return Intervals(start, end, np.zeros(len(start), dtype=np.int64))


def _shared(left: Intervals, right: Intervals) -> float:
    """Time that both unions cover, ns."""
    return float(covered(left, right).sum())
