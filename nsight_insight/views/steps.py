"""Training steps in a timeline: from NVTX ranges, else from what repeats in its kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities, codes_of
from nsight_insight.views.cadence import compute_rows, optimizer_ends
from nsight_insight.views.facts import Bools, Floats, Ints

_STEP: Final = re.compile(
    r"(?:(?:train(?:ing)?|profiler|global)[ _-]?)?(?:step|iteration|iter|batch)[ _#:=.\-\[(]*(\d*)[\])]?",
    re.IGNORECASE,
)
_ONCE_PER_STEP: Final = "amp_update_scale_cuda_kernel"
"""PyTorch's GradScaler.update() launches it exactly once per optimizer step (torch/amp/grad_scaler.py)."""
SCALER: Final = "updates of the loss scale"
REPEATING: Final = "kernels that repeat exactly"
"""How the basis of steps begins that nothing but their kernels shows: they may be layers of one step."""
MIN_PERIOD: Final = 10
"""Kernels a repeating sequence needs before it is taken for a step rather than an inner loop."""
MIN_REPEATS: Final = 3
SLOW_STEP: Final = 1.5
"""A leading step longer than this many typical steps is warm-up (compilation, autotuning, module loading)."""


@dataclass(frozen=True)
class Steps:
    """Steps found.

    Attributes:
        count: how many.
        index: step per kernel row, -1 outside; None when only the number is known.
        edges: ``count + 1`` times in ns on the device's clock; None when kernels have no start times.
        warm: True when the first step may hold warm-up work.
        basis: what they were recognised by.
    """

    count: int
    index: Ints | None = None
    edges: Floats | None = None
    warm: bool = True
    basis: str = "NVTX ranges"

    def steady(self) -> tuple[int, int] | None:
        """First steady step and one past the last; None when there is no step after the warm-up."""
        if self.edges is None:
            return (1, self.count) if self.index is not None and self.count > 1 else None
        lengths = np.diff(self.edges)
        typical = float(np.median(lengths[self.count // 2 :]))
        first = 1 if self.warm else 0
        while first < self.count - 1 and lengths[first] > SLOW_STEP * typical:
            first += 1
        return (first, self.count) if first < self.count else None


def is_step(name: str) -> str | None:
    """The step's number as text ("" when it has none) if ``name`` is a range around a training step."""
    for text in (name, name.partition(":")[2]):
        found = _STEP.fullmatch(text.strip())
        if found:
            return found.group(1)
    return None


def find_steps(acts: Activities, rows: Ints) -> Steps | None:
    """Steps of the kernels at ``rows`` (one device), or None when nothing says for certain."""
    return acts.once("steps", rows, lambda: _find_steps(acts, rows))


def _find_steps(acts: Activities, rows: Ints) -> Steps | None:
    timed = bool(len(rows)) and not np.isnan(acts.column("start")[rows]).any()
    # Labels come second: autograd launches kernels from a thread that has no ranges of its own.
    found = (_by_range(acts, rows) if timed else None) or _by_label(acts, rows, timed)
    if found is not None:
        return found
    counted = _counted_ranges(acts, rows)
    if timed:
        for marked in (_by_scaler(acts, rows), _by_optimizer(acts, rows)):
            if marked is not None and counted in (0, marked.count):
                return marked
        if not counted:
            return _by_period(acts, rows) or _by_own_stream(acts, rows)
    count = counted or int(np.nansum(acts.count(_scaler_updates(acts, rows))))
    return Steps(count, basis="NVTX ranges" if counted else SCALER) if count else None


def _by_label(acts: Activities, rows: Ints, timed: bool) -> Steps | None:
    """Steps from the NVTX ranges written beside each kernel: ``step 3/forward``."""
    codes, first = codes_of(acts.column("nvtx")[rows])
    labels = [_label(str(acts.column("nvtx")[rows[position]])) for position in first]
    numbers = sorted({int(label) for label in labels if label})
    if not numbers:
        return None
    step_of = np.array([numbers.index(int(label)) if label else -1 for label in labels], dtype=np.int64)
    return _from_index(acts, rows, step_of[codes], len(numbers), timed)


def _label(nvtx: str) -> str:
    return next((number for part in nvtx.split("/") if (number := is_step(part))), "")


def _from_index(acts: Activities, rows: Ints, index: Ints, count: int, timed: bool) -> Steps | None:
    if not timed:
        return Steps(count, index)
    start = acts.column("start")[rows]
    edges = np.full(count + 1, np.inf)
    inside = index >= 0
    np.minimum.at(edges, index[inside], start[inside])
    edges[-1] = (start + acts.column("duration")[rows])[inside].max(initial=-np.inf)
    return Steps(count, index, edges) if np.isfinite(edges).all() and (np.diff(edges) > 0).all() else None


def _by_range(acts: Activities, rows: Ints) -> Steps | None:
    ranges = _step_ranges(acts, rows)
    if not len(ranges):
        return None
    reports = np.array([source.report for source in acts.profile.sources], dtype=object)
    projected = np.array(["proj" in report for report in reports], dtype=bool)[acts.column("source")[ranges]]
    start = acts.column("start")
    if projected.any():
        return _assign(acts, rows, ranges[projected], start[rows])
    launched = _launch_times(acts, rows)
    return None if launched is None else _assign(acts, rows, ranges, launched)


def _step_ranges(acts: Activities, rows: Ints) -> Ints:
    """Timed NVTX step ranges of one report and of the kernels' process."""
    timed = acts.kind(Kind.RANGE) & ~np.isnan(acts.column("start"))
    found = _of_process(acts, acts.rows(_named(acts, timed)), rows)
    if not len(found):
        return found
    source = acts.column("source")[found]
    projected = [number for number in np.unique(source) if "proj" in acts.profile.sources[number].report]
    found = found[source == (projected[0] if projected else source[0])]
    order = np.argsort(acts.column("start")[found], kind="stable")
    ordered: Ints = found[order]
    return ordered


def _of_process(acts: Activities, found: Ints, rows: Ints) -> Ints:
    """Of ``found`` those of the process that launched the kernels at ``rows``; none where that is not certain."""
    process, found = acts.process, acts.beside(found, rows)
    if len(np.unique(process[found])) <= 1:
        return found
    owners = np.unique(process[rows])
    return found[process[found] == owners[0]] if len(owners) == 1 and owners[0] >= 0 else found[:0]


def _named(acts: Activities, mask: Bools) -> Bools:
    """Rows of ``mask`` whose name is that of a step."""
    found = np.zeros(acts.size, dtype=bool)
    rows = np.flatnonzero(mask)
    found[rows] = [is_step(str(name)) is not None for name in acts.column("name")[rows]]
    return found


def _assign(acts: Activities, rows: Ints, ranges: Ints, when: Floats) -> Steps | None:
    """Steps from ranges on the clock of ``when``, the time that puts each kernel into a range."""
    first = acts.column("start")[ranges]
    last = first + acts.column("duration")[ranges]
    index = np.searchsorted(first, when, side="right") - 1
    index = np.where((index >= 0) & (when <= last[index]), index, -1).astype(np.int64)
    held = np.unique(index[index >= 0])
    if not len(held):
        return None
    index = np.where(index >= 0, np.searchsorted(held, index), -1)
    return _from_index(acts, rows, index, len(held), timed=True)


def _launch_times(acts: Activities, rows: Ints) -> Floats | None:
    """Start of the API call that launched each kernel, by correlation id; None unless all are known."""
    calls = acts.kind(Kind.API) & ~np.isnan(acts.column("start")) & (acts.column("correlation") >= 0)
    found = _of_process(acts, np.flatnonzero(calls), rows)
    if not len(found):
        return None
    ids = acts.column("correlation")[found]
    order = np.argsort(ids, kind="stable")
    wanted = acts.column("correlation")[rows]
    place = np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)
    hit = found[order[place]]
    if (acts.column("correlation")[hit] != wanted).any():
        return None
    return np.asarray(acts.column("start")[hit], dtype=np.float64)


def _by_period(acts: Activities, rows: Ints) -> Steps | None:
    """Steps from the shortest kernel sequence (name and grid) that repeats exactly to the capture's end."""
    start = acts.column("start")[rows]
    order = np.lexsort((acts.column("stream")[rows], start))
    codes, _ = codes_of(acts.name_codes[0][rows[order]], acts.grid[rows[order]])
    found = repeating(codes)
    if found is None:
        return None
    first, period, repeats = found
    index = np.full(len(rows), -1, dtype=np.int64)
    index[order[first : first + period * repeats]] = np.repeat(np.arange(repeats), period)
    edges = start[order[first : first + period * repeats + 1 : period]]
    if len(edges) == repeats:
        edges = np.append(edges, (start + acts.column("duration")[rows]).max())
    return Steps(repeats, index, edges, warm=False, basis=REPEATING)


def _by_own_stream(acts: Activities, rows: Ints) -> Steps | None:
    """Steps from a sequence that repeats exactly on the computing stream; other streams' kernels by their start."""
    computing = compute_rows(acts, rows)
    found = _by_period(acts, computing) if computing is not None else None
    if found is None or found.edges is None:
        return None
    start = acts.column("start")[rows]
    index = np.searchsorted(found.edges, start, side="right") - 1
    index = np.where(index < found.count, index, -1).astype(np.int64)
    return replace(found, index=index, basis=f"{REPEATING} on the computing stream")


def repeating(codes: Ints) -> tuple[int, int, int] | None:
    """The shortest block that repeats exactly at the end of ``codes``.

    Returns:
        First position, block length and repeats, or None unless at least three equal blocks of at least
        ten entries cover half of ``codes``. Blocks with an entry behind the last one come first, because
        the gap after a step belongs to it.
    """
    counts = np.bincount(codes) if len(codes) else np.zeros(0, dtype=np.int64)
    for followed in (True, False):
        for count in sorted(set(counts[counts >= MIN_REPEATS + followed].tolist()), reverse=True):
            places = np.flatnonzero(codes == np.flatnonzero(counts == count)[0])
            end = int(places[-1]) if followed else len(codes)
            found = _blocks(codes, end, int(places[-1] - places[-2]))
            if found is not None:
                return found
    return None


def _blocks(codes: Ints, end: int, period: int) -> tuple[int, int, int] | None:
    """Equal blocks of ``period`` entries, the last of which ends at ``end``."""
    count = end // period
    if period < MIN_PERIOD or count < MIN_REPEATS:
        return None
    blocks = codes[end - count * period : end].reshape(count, period)
    equal = _trailing((blocks == blocks[-1]).all(axis=1))
    if equal < MIN_REPEATS or 2 * equal * period < len(codes):
        return None
    return end - equal * period, period, equal


def _trailing(truth: Bools) -> int:
    false = np.flatnonzero(~truth)
    return len(truth) - (int(false[-1]) + 1 if len(false) else 0)


def _counted_ranges(acts: Activities, rows: Ints) -> int:
    """Step ranges of the NVTX reports beside the kernels at ``rows``, in the report that counts most of them."""
    found = acts.beside(np.flatnonzero(_named(acts, acts.kind(Kind.RANGE))), rows)
    if not len(found):
        return 0
    counts = np.bincount(acts.column("source")[found], weights=np.nan_to_num(acts.count(found)))
    return int(counts.max())


def _scaler_updates(acts: Activities, rows: Ints) -> Ints:
    codes, names = acts.name_codes
    wanted = np.array([_ONCE_PER_STEP in name for name in names], dtype=bool)
    found: Ints = rows[wanted[codes[rows]]] if len(names) else rows[:0]
    return found


def _by_scaler(acts: Activities, rows: Ints) -> Steps | None:
    """Steps that each end with the update of the loss scale."""
    ends = np.sort(acts.column("start")[_scaler_updates(acts, rows)])
    return _ending(acts, rows, ends, SCALER) if len(ends) else None


def _by_optimizer(acts: Activities, rows: Ints) -> Steps | None:
    """Steps that each end with the optimizer's kernels."""
    ends = optimizer_ends(acts, rows)
    return None if ends is None else _ending(acts, rows, ends, "optimizer kernels")


def _ending(acts: Activities, rows: Ints, ends: Floats, basis: str) -> Steps | None:
    """Steps that end with the kernels that start at ``ends``; what follows the last one is no whole step."""
    index = np.searchsorted(ends, acts.column("start")[rows], side="left")
    index = np.where(index < len(ends), index, -1).astype(np.int64)
    found = _from_index(acts, rows, index, len(ends), timed=True)
    return None if found is None else replace(found, basis=basis)
