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


@dataclass(frozen=True)
class _Ordered:
    """Rows in running order per stream; ``place`` brings values back to the order of the rows."""

    rows: Ints
    stream: Ints
    family: Array
    place: Ints


def _ordered(acts: Activities, rows: Ints) -> _Ordered:
    stream, _ = codes_of(*(acts.column(name)[rows] for name in ("device", "process", "context", "stream")))
    order = np.lexsort((acts.column("start")[rows], stream))
    return _Ordered(rows[order], stream[order], acts.family(rows[order]), order)


def fusible_seconds(acts: Activities, rows: Ints) -> Floats:
    """Per row the part of its time that fusing its run of elementwise kernels saves: all but one of equal kernels.

    NaN where start times are missing. Neighbours belong together when they run on about as many threads, in one step.
    """
    saved = np.full(len(rows), np.nan)
    timed = ~np.isnan(acts.column("start")[rows])
    if not timed.any():
        return saved
    ordered = _ordered(acts, rows[timed])
    step = _step_index(acts, rows[timed])[ordered.place]
    threads = acts.grid[ordered.rows] * acts.block[ordered.rows]
    elementwise = ordered.family == "elementwise"
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
    ordered = _ordered(acts, rows)
    matrix, between = one_of(ordered.family, ("gemm",)), one_of(ordered.family, BETWEEN)
    inside = np.zeros(len(ordered.rows), dtype=bool)
    for softmax in np.flatnonzero(ordered.family == "softmax").tolist():
        first, last = _reach(between, softmax, -1), _reach(between, softmax, 1)
        if first is None or last is None or not (matrix[first] and matrix[last]):
            continue
        if ordered.stream[first] == ordered.stream[last] and last - first <= MAX_BETWEEN:
            inside[first : last + 1] = True
    duration = acts.seconds(ordered.rows)
    totals.add("attention_chain_time", ordered.rows, duration, inside)
    totals.add("attention_between_time", ordered.rows, duration, inside & ~matrix)


def _reach(passable: Bools, start: int, by: int) -> int | None:
    """First place from ``start`` on that is not passable; None at the end."""
    place = start
    while 0 <= place < len(passable):
        if not passable[place]:
            return place
        place += by
    return None
