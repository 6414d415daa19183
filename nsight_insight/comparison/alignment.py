"""The launches of one step laid beside those of the other: which stand at the same place between common ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from nsight_insight.views.facts import Array, Floats, Ints

LONGEST: Final = 4000
"""Launches of a step that are aligned; the table has the square of this many entries (64 MB)."""

Pair = tuple[int, int]


@dataclass
class Places:
    """What an alignment saw, counted over the launches of the step.

    Attributes:
        paired: (before, after) -> launches of theirs that stand at the same place.
        facing: (before, after) -> stretches without a partner that stand at the same place.
        beside: (before, after) -> launches before without a partner next to a pair with ``after``.
        beside_after: (before, after) -> launches after without a partner next to a pair with ``before``.
    """

    paired: Counter[Pair] = field(default_factory=Counter)
    facing: Counter[Pair] = field(default_factory=Counter)
    beside: Counter[Pair] = field(default_factory=Counter)
    beside_after: Counter[Pair] = field(default_factory=Counter)


def align(before: Sequence[int], after: Sequence[int], likeness: Floats) -> Places:
    """Align two sequences of kernel numbers.

    Args:
        before: kernel numbers in order.
        after: the same of the other side.
        likeness: score of a pair by (before, after) number; 0 where two kernels cannot be the same work.
    """
    first, second = np.array(before[:LONGEST], dtype=np.int64), np.array(after[:LONGEST], dtype=np.int64)
    places = Places()
    if not len(first) or not len(second):
        return places
    pairs = _path(first, second, likeness)
    for i, j in pairs:
        places.paired[int(first[i]), int(second[j])] += 1
    for ours, theirs, neighbours in _gaps(pairs, len(first), len(second)):
        left, right = Counter(first[ours].tolist()), Counter(second[theirs].tolist())
        for b in left:
            for a in right:
                places.facing[b, a] += min(left[b], right[a])
        for i, j in neighbours:
            if not right:
                places.beside.update({(b, int(second[j])): number for b, number in left.items()})
            if not left:
                places.beside_after.update({(int(first[i]), a): number for a, number in right.items()})
    return places


def _path(first: Ints, second: Ints, likeness: Floats) -> list[Pair]:
    """Positions of the pairs of highest total likeness, both orders kept (a weighted longest common subsequence)."""
    size = len(second)
    best = np.zeros((len(first) + 1, size + 1), dtype=np.float32)
    scores = likeness.astype(np.float32)[:, second]
    for i, kernel in enumerate(first):
        score = scores[kernel]
        with_pair = np.where(score > 0, best[i, :-1] + score, 0.0)
        np.maximum(with_pair, best[i, 1:], out=with_pair)
        np.maximum.accumulate(with_pair, out=best[i + 1, 1:])
    return _walk(best)


def _walk(best: Array) -> list[Pair]:
    pairs = []
    i, j = best.shape[0] - 1, best.shape[1] - 1
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _gaps(pairs: Sequence[Pair], ours: int, theirs: int) -> Iterator[tuple[slice, slice, list[Pair]]]:
    """Stretches between consecutive pairs, with the pairs at their ends."""
    ends = [*pairs, (ours, theirs)]
    last: Pair = (-1, -1)
    for pair in ends:
        gap = slice(last[0] + 1, pair[0]), slice(last[1] + 1, pair[1])
        if gap[0].start < gap[0].stop or gap[1].start < gap[1].stop:
            yield *gap, [end for end in (last, pair) if 0 <= end[0] < ours and 0 <= end[1] < theirs]
        last = pair
