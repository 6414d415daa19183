"""What collectives cost beside their transfer: waiting for a late device, and kernels that run slower beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.views.activity import NS, Activities, codes_of
from nsight_insight.views.coverage import Intervals, covered, merged
from nsight_insight.views.facts import Bools, Floats, Ints

if TYPE_CHECKING:
    from nsight_insight.views.timeline import Window
    from nsight_insight.views.totals import Totals

_TOGETHER: Final = re.compile(r"(?i)(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all)")
"""Collectives that end on all devices at about the same time. The root of a broadcast ends before the others."""
SAME: Final = 0.9
"""Part of the instances that must run at the same time on all devices, else they were matched wrongly."""
LATE: Final = 2.0
"""An instance this many times as long as on the last device to come is one that waited."""
QUIET: Final = 0.05
BESIDE: Final = 0.95
"""Part of a kernel's time covered by collectives up to which it ran without them, and from which beside them."""
MIN_RUNS: Final = 3
"""Launches of one kernel with one grid needed without collectives and beside them."""


def wait_facts(
    acts: Activities, kernels: Sequence[Ints], totals: Sequence[Totals], steady: Sequence[Window | None]
) -> None:
    """Add how long each device's collectives waited for the last device to join.

    A collective ends on all devices together, so that on the device that came last it lasts as long as the transfer,
    and longer by the waiting on the others. Instances are matched by name and order; nothing is added where the
    devices ran different numbers of them, or where matched ones do not overlap.

    Args:
        acts: the profile's activities.
        kernels: rows of each device's kernels.
        totals: facts of each device.
        steady: window of each device outside of which nothing counts; None for the whole capture.
    """
    rows = [_collectives(acts, own) for own in kernels]
    if len(rows) < 2 or not len(rows[0]) or any(np.isnan(acts.column("start")[own]).any() for own in rows):
        return
    names = [acts.name_codes[0][own] for own in rows]
    if any(len(own) != len(names[0]) or (own != names[0]).any() for own in names):
        return
    start = np.array([acts.column("start")[own] for own in rows])
    length = np.array([np.nan_to_num(acts.column("duration")[own]) for own in rows])
    if (start.max(axis=0) < (start + length).min(axis=0)).mean() < SAME:
        return
    waited = length - length.min(axis=0)
    counts = _inside(start, steady)
    last = np.bincount(start.argmax(axis=0)[counts], minlength=len(rows))
    for place, facts in enumerate(totals):
        own = np.where(counts, waited[place], 0.0)
        late = counts & (length[place] >= LATE * length.min(axis=0))
        facts.add("comm_wait_time", rows[place], own * NS, counts)
        facts.set("comm_waits", float(late.sum()))
        facts.set("comm_joined_last", float(last[place]) / max(int(counts.sum()), 1))


def _collectives(acts: Activities, rows: Ints) -> Ints:
    """The matchable collectives among ``rows``: by name, then in running order."""
    own = rows[(acts.family(rows) == "collective") & acts.named(rows, lambda name: bool(_TOGETHER.search(name)))]
    order = np.lexsort((acts.column("start")[own], acts.name_codes[0][own]))
    ordered: Ints = own[order]
    return ordered


def _inside(start: Floats, steady: Sequence[Window | None]) -> Bools:
    """Instances that every device started inside its steady window."""
    counts = np.ones(start.shape[1], dtype=bool)
    for own, within in zip(start, steady, strict=True):
        if within is not None:
            counts &= (own >= within.start) & (own < within.end)
    return counts


def slowdown_facts(acts: Activities, rows: Ints, totals: Totals) -> None:
    """Add how much longer kernels of one device run beside collectives than without; all have start times.

    Compared are launches of one kernel with one grid and block. Without collectives nothing is slowed down.
    """
    collective = acts.family(rows) == "collective"
    if not collective.any():
        totals.set("comm_beside_time", 0.0)
        totals.set("comm_slowdown_time", 0.0)
        return
    start = np.asarray(acts.column("start")[rows], dtype=np.float64)
    end = start + np.nan_to_num(acts.column("duration")[rows])
    own = rows[~collective]
    length = (end - start)[~collective]
    lane = np.zeros(len(own), dtype=np.int64)
    together = merged(start[collective], end[collective])
    busy = Intervals(*together, np.zeros(len(together[0]), dtype=np.int64))
    share = covered(Intervals(start[~collective], end[~collective], lane), busy) / np.maximum(length, 1.0)
    codes, first = codes_of(acts.name_codes[0][own], acts.grid[own], acts.block[own])
    usual = _medians(codes, length, share <= QUIET, len(first))
    beside = (share >= BESIDE) & (np.bincount(codes[share >= BESIDE], minlength=len(first)) >= MIN_RUNS)[codes]
    judged = beside & ~np.isnan(usual[codes])
    excess = np.where(judged, length - usual[codes], 0.0)
    totals.add("comm_beside_time", own, length * NS, judged)
    totals.set("comm_slowdown_time", max(float(excess.sum()), 0.0) * NS)


def _medians(codes: Ints, length: Floats, chosen: Bools, size: int) -> Floats:
    """Median length of the chosen launches per group; NaN for fewer than a few."""
    found = np.full(size, np.nan)
    order = np.lexsort((length[chosen], codes[chosen]))
    groups, ordered = codes[chosen][order], length[chosen][order]
    numbers, begin, count = np.unique(groups, return_index=True, return_counts=True)
    enough = count >= MIN_RUNS
    middle = begin + count // 2
    found[numbers[enough]] = (ordered[middle] + ordered[middle - (count % 2 == 0)])[enough] / 2
    return found
