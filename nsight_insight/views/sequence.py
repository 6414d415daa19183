"""Kernels in the order they ran on each stream, with their neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.views.activity import NS, Activities, codes_of
from nsight_insight.views.facts import SEQUENCE, Array, Bools, FactTable, Floats, Ints, empty_table, without
from nsight_insight.views.gpu import device_columns
from nsight_insight.views.identity import identity, row_keys, share_of_device
from nsight_insight.views.join import join, kernels_of
from nsight_insight.views.kernel_totals import MATRIX, one_of
from nsight_insight.views.metered import shape_columns
from nsight_insight.views.precision import own_type
from nsight_insight.views.steps import find_steps
from nsight_insight.views.weight_casts import find_weight_casts
from nsight_insight.views.work import Columns

BETWEEN: Final = 2
"""Kernels that may lie between a cast and the one that undoes it."""
WIDE: Final = ("fp32", "fp64")
MAX_RATIO: Final = 2.0
"""Threads of two casts of one tensor: PyTorch gives a thread four or eight elements, by the narrower type."""
FILTERED: Final = "neighbours are those among the profiled launches; kernels that ncu skipped are not seen"


@dataclass(frozen=True)
class Order:
    """Rows in running order; ``stream`` numbers the streams, neighbours share it."""

    rows: Ints
    stream: Ints

    def shifted(self, values: Array, by: int) -> Array:
        """``values`` of the neighbour ``by`` places later on the same stream; unknown at the ends."""
        size = len(values)
        place = np.arange(size) + by
        inside = (place >= 0) & (place < size)
        place = np.clip(place, 0, max(size - 1, 0))
        inside &= self.stream[place] == self.stream
        moved = values[place]
        return without(moved, ~inside) if values.dtype == object else np.where(inside, moved, np.nan)


def build_sequence(acts: Activities) -> FactTable:
    """Facts of each kernel row in running order; empty when the profile holds summaries only."""
    base = acts.base
    timed = base[~np.isnan(acts.column("start")[base])]
    rows = timed if len(timed) else acts.metered
    if not len(rows):
        return empty_table(SEQUENCE)
    order = _ordered(acts, rows, timed=bool(len(timed)))
    table = _table(acts, order)
    _neighbours(acts, order, table.values)
    table.values["pingpong"], table.values["pingpong_matrix"] = pingpong(order, table.values)
    _steps(acts, order, table.values)
    _weight_casts(acts, order, table.values)
    if not len(timed):
        table.assumptions.update(dict.fromkeys(("prev_family", "next_family", "pingpong"), FILTERED))
    return table


def _ordered(acts: Activities, rows: Ints, *, timed: bool) -> Order:
    """By device, process, context, stream and time; ncu launches by their ID, which counts in launch order."""
    when = acts.column("start" if timed else "correlation")[rows]
    place = [acts.device[rows], *(acts.column(name)[rows] for name in ("process", "context", "stream"))]
    order = np.lexsort((np.arange(len(rows)), when, *place[::-1]))
    return Order(rows[order], codes_of(*(column[order] for column in place))[0])


def _table(acts: Activities, order: Order) -> FactTable:
    rows = order.rows
    duration = acts.seconds(rows)
    values = {
        **identity(acts, rows), **shape_columns(acts, rows), "duration": duration,
        **dict.fromkeys(("mean_duration", "min_duration", "max_duration"), duration),
        "launches": acts.count(rows),
    }  # fmt: skip
    devices = acts.device[rows]
    own = own_type(values["dtype_in"], values["tensor_core"], Columns({}, len(rows)))
    gpu = device_columns(acts, devices, own=own)
    values.update(gpu.values)
    time, launches = _base_time(acts, rows)
    values["time_share"] = share_of_device(time, devices, acts)
    return FactTable(
        SEQUENCE, values, row_keys(acts, rows, extra=acts.column("stream")[rows]), list(rows.reshape(-1, 1)), rows,
        time, devices, launches, assumptions=dict(gpu.assumptions),
    )  # fmt: skip


def _base_time(acts: Activities, rows: Ints) -> tuple[Floats, Ints]:
    """Seconds and launches of the time base that each row stands for."""
    if acts.column("primary")[rows].all():
        return acts.time(rows), acts.launches(rows)
    pairs, size = join(acts, kernels_of(acts)), len(acts.metered)
    place = np.zeros(acts.size, dtype=np.int64)
    place[acts.metered] = np.arange(size)
    time, launches = (pairs.per_launch(values, size) for values in (pairs.time, pairs.launches.astype(float)))
    return time[place[rows]], launches[place[rows]].astype(np.int64)


def _neighbours(acts: Activities, order: Order, values: dict[str, Array]) -> None:
    values["prev_family"] = order.shifted(values["family"], -1)
    values["next_family"] = order.shifted(values["family"], 1)
    values["prev_dtype_out"] = order.shifted(values["dtype_out"], -1)
    values["next_dtype_in"] = order.shifted(values["dtype_in"], 1)
    start, duration = acts.column("start")[order.rows], acts.column("duration")[order.rows]
    gap = start - order.shifted(start + duration, -1)
    values["gap_before"] = np.maximum(gap, 0.0) * NS


def pingpong(order: Order, values: Mapping[str, Array]) -> tuple[Floats, Floats]:
    """Casts undone soon after, and whether a matrix kernel in between needed them.

    The source type of some casts is not in their name: one unknown end of the four is let pass. Casting down
    for a narrow matrix kernel and up after it is what mixed precision is; casting up for a wide one and down
    again is not. Without a matrix kernel both casts must be of about the same size, or they are of different
    tensors. 0 for everything that is no cast; NaN for casts of which neither type is known.
    """
    family, source, target = values["family"], values["dtype_in"], values["dtype_out"]
    cast, matrix = (family == "cast").astype(float), one_of(family, MATRIX).astype(float)
    size, wide = values["grid"] * values["block"], one_of(target, WIDE)
    undone = np.zeros(len(family), dtype=bool)
    over_matrix, between, needed = undone.copy(), undone.copy(), undone.copy()
    for by in range(1, BETWEEN + 2):
        forth = _agree(target, order.shifted(source, by))
        back = _agree(source, order.shifted(target, by))
        opposite = (forth + back == 2) | ((forth == 1) & np.isnan(back)) | (np.isnan(forth) & (back == 1))
        ratio = order.shifted(size, by) / size
        alike = between | ~((ratio < 1 / MAX_RATIO) | (ratio > MAX_RATIO))
        found = (cast == 1) & (order.shifted(cast, by) == 1) & opposite & alike & ~undone & ~needed
        over_matrix |= found & between
        undone |= found
        crossed = order.shifted(matrix, by) == 1
        between |= crossed
        needed |= crossed & ~(wide & (forth == 1))
    blank = (cast == 1) & (source == None) & (target == None)  # noqa: E711  elementwise
    unknown: Bools = blank & ~undone
    return np.where(unknown, np.nan, undone.astype(float)), np.where(unknown, np.nan, over_matrix.astype(float))


def _agree(one: Array, other: Array) -> Floats:
    """1 where two types are equal, 0 where they differ, NaN where one is unknown."""
    unknown = (one == None) | (other == None)  # noqa: E711  elementwise
    return np.where(unknown, np.nan, (one == other).astype(float))


def _steps(acts: Activities, order: Order, values: dict[str, Array]) -> None:
    """Add how often each kernel runs per steady step; one step alone may be cut off, so it counts for nothing."""
    rows = order.rows
    device = acts.device[rows]
    values["steps"], values["repeats_per_step"] = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    for index in np.unique(device):
        here = np.flatnonzero(device == index)
        steps = find_steps(acts, rows[here])
        if steps is None:
            continue
        values["steps"][here] = steps.count
        steady = steps.steady()
        if steps.index is not None and steady is not None:
            inside = (steps.index >= steady[0]) & (steps.index < steady[1])
            names = acts.name_codes[0][rows[here]]
            codes, first = codes_of(names, acts.grid[rows[here]], acts.block[rows[here]])
            counts = np.bincount(codes[inside], minlength=len(first))
            values["repeats_per_step"][here] = counts[codes] / (steady[1] - steady[0])


def _weight_casts(acts: Activities, order: Order, values: dict[str, Array]) -> None:
    """Add how often weights are cast per step; 0 for everything else, and where sizes do not tell."""
    times, repeated = np.zeros(len(order.rows)), np.zeros(len(order.rows))
    device = acts.device[order.rows]
    for index in np.unique(device):
        here = np.flatnonzero(device == index)
        found = find_weight_casts(acts, order.rows[here])
        if found is not None:
            repeated[here] = found.repeated
            times[here] = np.where(found.repeated > 0, found.times, 0)
    values["weight_casts"], values["repeated_cast"] = times, repeated
