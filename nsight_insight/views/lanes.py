"""GPU work of a stretch of time on lanes: one per stream and per kind of copy, fine enough to be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from nsight_insight.model.charts import Block, Lane
from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Array, Bools, Floats, Ints
from nsight_insight.views.timeline import Window, union

STREAMS: Final = 8
"""Streams with a lane of their own; further ones share one."""
RESOLUTION: Final = 800
"""What is narrower than this part of the window cannot be seen by itself."""


def lanes_of(acts: Activities, rows: Ints, within: Window) -> tuple[Lane, ...]:
    """The work at ``rows`` inside a window; streams first, the busiest on top."""
    start = acts.column("start")[rows]
    end = start + np.nan_to_num(acts.column("duration")[rows])
    inside = (end > within.start) & (start < within.end)
    rows = rows[inside]
    first, last = np.maximum(start[inside], within.start), np.minimum(end[inside], within.end)
    found = []
    for label, mask in _lanes(acts, rows, last - first):
        order = np.argsort(first[mask], kind="stable")
        mine = rows[mask][order]
        blocks = _blocks(acts, mine, first[mask][order] - within.start, last[mask][order] - within.start, within.length)
        found.append(Lane(label, tuple(blocks)))
    return tuple(found)


def _lanes(acts: Activities, rows: Ints, length: Floats) -> Iterator[tuple[str, Bools]]:
    kind = acts.column("kind")[rows]
    running = (kind == Kind.KERNEL.value) | (kind == Kind.GRAPH.value)
    names, codes = _streams(acts, rows)
    busy = np.bincount(codes[running], weights=length[running], minlength=len(names))
    order = [code for code in np.argsort(-busy, kind="stable").tolist() if (running & (codes == code)).any()]
    shown = order if len(order) <= STREAMS + 1 else order[:STREAMS]
    for code in shown:
        yield names[code], running & (codes == code)
    if len(shown) < len(order):
        yield f"{len(order) - len(shown)} other streams", running & ~np.isin(codes, shown)
    copies, direction = kind == Kind.MEMCPY.value, acts.column("direction")[rows]
    for name in np.unique(direction[copies].astype(str)):
        yield f"copy {name}".strip(), copies & (direction == name)
    if (kind == Kind.MEMSET.value).any():
        yield "memset", kind == Kind.MEMSET.value


def _streams(acts: Activities, rows: Ints) -> tuple[list[str], Ints]:
    """Name per stream and stream per row; every process numbers its own streams."""
    process, stream = acts.column("process")[rows], acts.column("stream")[rows]
    pairs, codes = np.unique(np.stack([process, stream]), axis=1, return_inverse=True)
    ranks = {number: rank for rank, number in enumerate(np.unique(process).tolist(), 1)}
    names = [
        ("kernels" if number < 0 else f"stream {number}") + (f", process {ranks[owner]}" if len(ranks) > 1 else "")
        for owner, number in pairs.T.tolist()
    ]
    return names, np.asarray(codes, dtype=np.int64).ravel()


def _blocks(acts: Activities, rows: Ints, start: Floats, end: Floats, length: float) -> Iterator[Block]:
    """Neighbours in one cell of the resolution are one block; ``start`` ascends."""
    if not len(rows):
        return
    cell = length / RESOLUTION
    wide = end - start >= cell
    place = np.floor(start / cell).astype(np.int64)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = wide[1:] | wide[:-1] | (place[1:] != place[:-1])
    edges = [*np.flatnonzero(new).tolist(), len(rows)]
    family = _family(acts, rows)
    for first, last in pairwise(edges):
        part = slice(first, last)
        alone = last - first == 1
        yield Block(
            float(start[first]),
            float(end[part].max()),
            float(end[first] - start[first]) if alone else union(start[part], end[part]),
            str(family[first]) if alone else _heaviest(family[part], end[part] - start[part]),
            last - first,
            str(acts.column("name")[rows[first]]) if alone else "",
        )


def _family(acts: Activities, rows: Ints) -> Array:
    kind = acts.column("kind")[rows]
    moved = np.isin(kind, (Kind.MEMCPY.value, Kind.MEMSET.value))
    return np.where(moved, kind, acts.family(rows))


def _heaviest(family: Array, time: Floats) -> str:
    names, codes = np.unique(family.astype(str), return_inverse=True)
    return str(names[np.argmax(np.bincount(codes, weights=time))])
