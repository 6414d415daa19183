"""Runs of kernels that follow each other on a stream: elementwise chains, and attention written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.views.activity import Activities, codes_of
from nsight_insight.views.facts import Array, Bools, Floats, Ints
from nsight_insight.views.kernel_totals import one_of
from nsight_insight.views.steps import find_steps
from nsight_insight.views.totals import Totals

MAX_RATIO: Final = 8.0
"""Threads of neighbours in a chain: one tensor, of which a thread takes one to eight elements."""
BETWEEN: Final = ("elementwise", "cast", "copy", "layout", "rng", "softmax")
"""What may stand between the two products: scaling, masks, casts, dropout."""
MAX_BETWEEN: Final = 8
SOFTMAX_KERNELS: Final = 5
"""Kernels of a softmax that is written as maximum, difference, exponential, sum and quotient."""


@dataclass(frozen=True)
class InOrder:
    """Rows in running order per stream; ``place`` brings values back to the order of the rows."""

    rows: Ints
    stream: Ints
    family: Array
    place: Ints


def in_order(acts: Activities, rows: Ints) -> InOrder:
    """The kernels at ``rows``, all with start times, stream by stream in running order."""
    stream, _ = codes_of(*(acts.column(name)[rows] for name in ("device", "process", "context", "stream")))
    order = np.lexsort((acts.column("start")[rows], stream))
    return InOrder(rows[order], stream[order], acts.family(rows[order]), order)


def fusible_seconds(acts: Activities, rows: Ints, apart: Bools) -> Floats:
    """Per row the part of its time that fusing its run of elementwise kernels saves: all but one of equal kernels.

    NaN where start times are missing. Neighbours belong together when they run on about as many threads, in one step.
    What stands in attention written out, or is told to stand ``apart``, is a matter of other remedies.
    """
    saved = np.full(len(rows), np.nan)
    timed = ~np.isnan(acts.column("start")[rows])
    if not timed.any():
        return saved
    ordered = in_order(acts, rows[timed])
    step = _step_index(acts, rows[timed])[ordered.place]
    threads = acts.grid[ordered.rows] * acts.block[ordered.rows]
    elementwise = (ordered.family == "elementwise") & ~attention_mask(acts, ordered)
    elementwise &= ~apart[timed][ordered.place]
    with np.errstate(all="ignore"):
        ratio = threads[1:] / threads[:-1]
    linked: Bools = elementwise[1:] & elementwise[:-1] & (ordered.stream[1:] == ordered.stream[:-1])
    linked &= step[1:] == step[:-1]
    linked &= ~((ratio < 1 / MAX_RATIO) | (ratio > MAX_RATIO))
    run = np.concatenate(([0], np.cumsum(~linked)))
    length = np.bincount(run)[run]
    part = np.empty(len(ordered.rows))
    part[ordered.place] = np.where(elementwise, acts.seconds(ordered.rows) * (1 - 1 / length), 0.0)
    saved[timed] = part
    return saved


def _step_index(acts: Activities, rows: Ints) -> Ints:
    """Step of each row on its device, -1 outside of steps or where none are found."""
    index = np.full(len(rows), -1, dtype=np.int64)
    for device in np.unique(acts.device[rows]):
        here = np.flatnonzero(acts.device[rows] == device)
        steps = find_steps(acts, rows[here])
        if steps is not None and steps.index is not None:
            index[here] = steps.index
    return index


def attention_facts(acts: Activities, rows: Ints, totals: Totals) -> None:
    """Add time in matrix product, softmax, matrix product sequences on one stream; every row has a start time."""
    ordered = in_order(acts, rows)
    inside = attention_mask(acts, ordered)
    matrix = one_of(ordered.family, ("gemm",))
    duration = acts.seconds(ordered.rows)
    totals.add("attention_chain_time", ordered.rows, duration, inside)
    totals.add("attention_between_time", ordered.rows, duration, inside & ~matrix)


def attention_mask(acts: Activities, ordered: InOrder) -> Bools:
    """True for the kernels of product, softmax, product sequences, the softmax being one kernel or several."""
    matrix = one_of(ordered.family, ("gemm",))
    softmaxes, parts = hand_softmaxes(acts, ordered)
    passable = one_of(ordered.family, (*BETWEEN, "fill")) | parts
    inside = np.zeros(len(ordered.rows), dtype=bool)
    centres = [(place, MAX_BETWEEN) for place in np.flatnonzero(ordered.family == "softmax").tolist()]
    for centre, limit in [*centres, *((place, MAX_BETWEEN + SOFTMAX_KERNELS - 1) for place in softmaxes)]:
        first, last = _reach(passable, centre, -1), _reach(passable, centre, 1)
        if first is None or last is None or not (matrix[first] and matrix[last]):
            continue
        if ordered.stream[first] == ordered.stream[last] and last - first <= limit:
            inside[first : last + 1] = True
    return inside


def hand_softmaxes(acts: Activities, ordered: InOrder) -> tuple[list[int], Bools]:
    """Softmaxes written as several kernels: places of their exponentials, and all their kernels.

    Row maximum, difference, exponential, row sum, quotient; the operations are named in PyTorch's kernel names.
    """
    rows = ordered.rows
    parts = np.zeros(len(rows), dtype=bool)
    pointwise = one_of(ordered.family, ("elementwise",))
    exponential = acts.named(rows, lambda name: "exp_kernel" in name) & pointwise
    if len(rows) < SOFTMAX_KERNELS or not exponential.any():
        return [], parts
    maximum = acts.named(rows, lambda name: "MaxOps<" in name)
    total = acts.named(rows, lambda name: "sum_functor<" in name)
    whole = maximum[:-4] & pointwise[1:-3] & exponential[2:-2] & total[3:-1] & pointwise[4:]
    whole &= ordered.stream[:-4] == ordered.stream[4:]
    first = np.flatnonzero(whole)
    for place in range(SOFTMAX_KERNELS):
        parts[first + place] = True
    return (first + 2).tolist(), parts


def _reach(passable: Bools, start: int, by: int) -> int | None:
    """First place from ``start`` on that is not passable; None at the end."""
    place = start
    while 0 <= place < len(passable):
        if not passable[place]:
            return place
        place += by
    return None
