"""Copies between host and device; a one-off upload before the first computation is kept apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.totals import Totals

if TYPE_CHECKING:
    from nsight_insight.views.facts import Bools, Ints

SMALL_COPY: Final = 65536.0
"""Bytes below which a copy is overhead rather than transfer: at 25 GB/s 64 KiB take 2.6 us, less than the
5 to 10 us a copy costs to issue."""
SETUP: Final = ("collective", "fill", "rng")
"""Families of kernels that a program also runs while it is set up: communicators are tried and parameters are
initialised before or between uploads, so a copy after them may still be the upload."""
_COPY_REPORTS: Final = re.compile(r"(?:cuda_)?gpu_?(?:trace|sum|mem_?time_?sum)$")
_DIRECTIONS: Final = (("h2d", "HtoD"), ("d2h", "DtoH"), ("d2d", "DtoD"))


def copies_captured(acts: Activities) -> bool:
    """True when some input would list copies if there were any."""
    return any(_COPY_REPORTS.match(source.report) for source in acts.profile.sources)


def first_computation(acts: Activities, kernels: Ints) -> float:
    """Start in ns of the first kernel that is no set-up, of the first one where all are; NaN when unknown."""
    start = acts.column("start")[kernels]
    computing = start[~np.isin(acts.family(kernels), SETUP)]
    chosen = computing if len(computing) and not np.isnan(computing).all() else start
    return float(np.nanmin(chosen)) if len(chosen) and not np.isnan(chosen).all() else float("nan")


def copy_facts(acts: Activities, rows: Ints, totals: Totals, first_kernel: float) -> None:
    """Add copy times, bytes and numbers.

    Args:
        acts: the profile's activities.
        rows: the device's primary copy rows.
        totals: what to add to; nothing is added when copies were not captured, which leaves them unknown.
        first_kernel: start of the device's first computation in ns, NaN when unknown.
    """
    if not len(rows) and not copies_captured(acts):
        return
    start = acts.column("start")[rows]
    ordered = bool(len(rows)) and not np.isnan(start).any() and not np.isnan(first_kernel)
    totals.set("copies_have_order", float(ordered))
    if ordered:
        early = start < first_kernel
        totals.add("startup_copy_time", rows, acts.seconds(rows), early)
        totals.add("startup_copy_bytes", rows, acts.column("bytes")[rows], early)
        rows = rows[~early]
    if ordered or not len(rows):
        across = np.isin(acts.column("direction")[rows], ("HtoD", "DtoH"))
        totals.add("loop_copy_time", rows, acts.seconds(rows), across)
    _sums(acts, rows, totals)


def _sums(acts: Activities, rows: Ints, totals: Totals) -> None:
    duration = acts.seconds(rows)
    size = acts.column("bytes")[rows]
    count = acts.count(rows)
    totals.add("copy_time", rows, duration)
    totals.add("copy_bytes", rows, size)
    totals.add("copies", rows, count)
    direction = acts.column("direction")[rows]
    for stem, label in _DIRECTIONS:
        totals.add(f"{stem}_time", rows, duration, direction == label)
        if stem != "d2d":
            totals.add(f"{stem}_bytes", rows, size, direction == label)
    if not np.isnan(size).any():
        # The driver moves pages of managed memory; nobody issues those copies one by one.
        small = (size <= SMALL_COPY * count) & (direction != "unified")
        totals.add("small_copy_time", rows, duration, small)
        totals.add("small_copies", rows, count, small)
    pageable = _pageable(acts, rows)
    if pageable is not None:
        totals.add("pageable_time", rows, duration, pageable)
        totals.add("pageable_bytes", rows, size, pageable)
        totals.add("pageable_copies", rows, count, pageable)


def _pageable(acts: Activities, rows: Ints) -> Bools | None:
    """Copies that touch pageable memory; None unless the kinds of both ends are written for every copy."""
    source, target = acts.column("src_kind")[rows], acts.column("dst_kind")[rows]
    if (source == "").any() or (target == "").any():
        return None
    held: Bools = (source == "pageable") | (target == "pageable")
    return held
