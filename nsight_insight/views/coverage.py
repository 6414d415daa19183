"""How much of some stretches of time a set of intervals covers, thread by thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsight_insight.views.facts import Floats, Ints


@dataclass(frozen=True)
class Intervals:
    """Stretches of time in ns; ``lane`` keeps what happens on different threads apart."""

    start: Floats
    end: Floats
    lane: Ints

    def __len__(self) -> int:
        return len(self.start)

    def joined(self, other: Intervals) -> Intervals:
        """Both sets in one."""
        return Intervals(
            np.concatenate((self.start, other.start)),
            np.concatenate((self.end, other.end)),
            np.concatenate((self.lane, other.lane)),
        )

    def on_one_lane(self) -> Intervals:
        """The same stretches, whichever thread they belong to."""
        return Intervals(self.start, self.end, np.zeros(len(self), dtype=np.int64))


def covered(what: Intervals, by: Intervals) -> Floats:
    """Length of each stretch of ``what`` that the union of ``by`` covers on the same lane."""
    if not len(what) or not len(by):
        return np.zeros(len(what))
    first = min(float(what.start.min()), float(by.start.min()))
    span = max(float(what.end.max()), float(by.end.max())) - first + 1.0
    # Lanes are laid end to end on one axis, so that one sorted search serves all threads.
    start, end = merged(by.start - first + by.lane * span, by.end - first + by.lane * span)
    offset = what.lane * span - first
    return _reached(start, end, what.end + offset) - _reached(start, end, what.start + offset)


def merged(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Disjoint intervals with the same union, in order."""
    if not len(start):
        return start, end
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    opens = np.ones(len(start), dtype=bool)
    opens[1:] = start[1:] > reach[:-1]
    closes = np.append(np.flatnonzero(opens)[1:] - 1, len(start) - 1)
    return start[opens], reach[closes]


def _reached(start: Floats, end: Floats, when: Floats) -> Floats:
    """Covered length from the beginning up to each moment."""
    total = np.concatenate(([0.0], np.cumsum(end - start)))
    place = np.searchsorted(start, when, side="right")
    beyond = np.where(place > 0, np.maximum(end[np.maximum(place - 1, 0)] - when, 0.0), 0.0)
    return np.asarray(total[place] - beyond, dtype=np.float64)
