"""Intervals on a device: what was busy in a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsight_insight.views.facts import Floats


@dataclass(frozen=True)
class Window:
    """A stretch of time and how much of it something ran, in ns."""

    start: float
    end: float
    busy: float

    @property
    def length(self) -> float:
        """Duration of the window."""
        return self.end - self.start

    @property
    def idle(self) -> float:
        """Window minus busy."""
        return self.length - self.busy


def union(start: Floats, end: Floats) -> float:
    """Length of the union of intervals, in their own unit; overlapping streams count once."""
    if not len(start):
        return 0.0
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reached = np.maximum.accumulate(end)
    before = np.concatenate(([start[0]], reached[:-1]))
    return float(np.maximum(reached - np.maximum(start, before), 0.0).sum())


def window(start: Floats, end: Floats, first: float, last: float) -> Window:
    """The window from ``first`` to ``last`` with the busy time of the intervals inside it."""
    inside = (end > first) & (start < last)
    busy = union(np.maximum(start[inside], first), np.minimum(end[inside], last))
    return Window(first, last, busy)
