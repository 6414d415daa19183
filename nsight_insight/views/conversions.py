"""Which rows of the time base convert between types, and what stands around them on their stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.conversions import conversion_kind
from nsight_insight.model.ledger import Flow
from nsight_insight.views.activity import NS, Activities, codes_of
from nsight_insight.views.facts import SEQUENCE, Array, Bools, Floats, Ints
from nsight_insight.views.steps import find_steps, is_step

if TYPE_CHECKING:
    from nsight_insight.views.build import Views

FLOWS: Final = 3
LEVELS: Final = 2
"""Levels of NVTX ranges below the step that tell costs apart: ``forward/layer 3``."""


@dataclass(frozen=True)
class Rows:
    """The time base's kernels as columns; ``kind`` is None for kernels that do not convert."""

    rows: Ints
    kind: Array
    family: Array
    dtype_in: Array
    dtype_out: Array
    time: Floats
    launches: Ints
    steady: Bools
    steps: int | None

    @property
    def converting(self) -> Bools:
        """Rows whose whole time is conversion."""
        found: Bools = (self.kind != None) & (self.kind != "fused")  # noqa: E711  elementwise
        return found


def converting_rows(acts: Activities) -> Rows:
    """Every kernel row of the time base."""
    rows = acts.base
    words = {name: acts.column(name)[rows] for name in ("dtype_in", "dtype_out")}
    family = acts.family(rows)
    codes, first = codes_of(acts.name_codes[0][rows], family, *words.values())
    kinds = np.empty(len(first), dtype=object)
    kinds[:] = [
        conversion_kind(str(family[at]), str(words["dtype_in"][at]), str(words["dtype_out"][at]),
                        acts.name_codes[1][acts.name_codes[0][rows[at]]])
        for at in first
    ]  # fmt: skip
    steady, steps = steady_rows(acts)
    kind = kinds[codes] if len(rows) else np.zeros(0, dtype=object)
    return Rows(
        rows, kind, family, words["dtype_in"], words["dtype_out"], acts.time(rows), acts.launches(rows), steady, steps
    )


def steady_rows(acts: Activities) -> tuple[Bools, int | None]:
    """Rows of the time base inside whole steps after the warm-up, and how many steps those are.

    Steps of several devices add up, so that averages are per step of one device. All rows and all steps where only
    the number of steps is known. No steps unless every device has them, and none from ncu, which profiles parts.
    """
    rows, device = acts.base, acts.device[acts.base]
    if (acts.tool[rows] == "ncu").any():
        return np.ones(len(rows), dtype=bool), None
    inside, total = np.zeros(len(rows), dtype=bool), 0
    for index in np.unique(device):
        here = np.flatnonzero(device == index)
        steps = find_steps(acts, rows[here])
        if steps is None:
            return np.ones(len(rows), dtype=bool), None
        steady = steps.steady()
        if steps.index is None or steady is None:
            inside[here], total = True, total + steps.count
        else:
            inside[here] = (steps.index >= steady[0]) & (steps.index < steady[1])
            total += steady[1] - steady[0]
    return inside, total or None


def range_names(acts: Activities, rows: Ints) -> Array:
    """The NVTX ranges around each row, the two outermost below the step; "" outside of any."""
    nvtx = acts.column("nvtx")[rows]
    codes, first = codes_of(nvtx)
    names = np.array([_below_step(str(nvtx[at])) for at in first], dtype=object)
    return names[codes] if len(rows) else nvtx


def _below_step(nvtx: str) -> str:
    return "/".join([part for part in nvtx.split("/") if part and is_step(part) is None][:LEVELS])


@dataclass(frozen=True)
class Neighbours:
    """Family before and after each conversion in running order; None where its stream begins or ends."""

    row: Ints
    before: Array
    after: Array


def neighbours(views: Views, found: Rows) -> Neighbours | None:
    """What produced and consumes each conversion, other conversions skipped; None without an order of kernels."""
    acts, table = views.activities, views[SEQUENCE]
    if len(table) != len(found.rows):
        return None
    place = np.zeros(acts.size, dtype=np.int64)
    place[found.rows] = np.arange(len(found.rows))
    order = place[table.lead]
    rows = found.rows[order]
    stream, _ = codes_of(acts.device[rows], *(acts.column(name)[rows] for name in ("process", "context", "stream")))
    converts, family = found.converting[order], found.family[order]
    before = _carried(family, stream, converts)
    after = _carried(family[::-1], stream[::-1], converts[::-1])[::-1]
    chosen = np.flatnonzero(converts)
    return Neighbours(order[chosen], before[chosen], after[chosen])


def _carried(family: Array, stream: Ints, skipped: Bools) -> Array:
    """Per place the last earlier family on the same stream that is not skipped; None where there is none."""
    size = len(family)
    last = np.maximum.accumulate(np.where(skipped, -1, np.arange(size))) if size else np.zeros(0, dtype=np.int64)
    last = np.concatenate((np.array([-1], dtype=np.int64), last[:-1])) if size else last
    inside = (last >= 0) & (stream[np.maximum(last, 0)] == stream)
    carried = family[np.maximum(last, 0)].astype(object)
    carried[~inside] = None
    return carried


def flows(around: Neighbours | None, found: Rows, chosen: Bools) -> tuple[Flow, ...]:
    """The pairs of producer and consumer around the chosen conversions that take most time."""
    if around is None:
        return ()
    here = np.flatnonzero(chosen[around.row])
    codes, first = codes_of(around.before[here], around.after[here])
    time = np.bincount(codes, weights=found.time[around.row[here]], minlength=len(first)) / NS
    launches = np.bincount(codes, weights=found.launches[around.row[here]], minlength=len(first))
    ends = [(str(around.before[at] or ""), str(around.after[at] or "")) for at in here[first]]
    ranked = sorted(range(len(first)), key=lambda code: (-round(float(time[code])), ends[code]))
    return tuple(Flow(*ends[code], int(launches[code]), float(time[code])) for code in ranked[:FLOWS])
