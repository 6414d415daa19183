"""Unions of intervals against counting every nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.views.timeline import union, window

intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 15)), max_size=20)


def _counted(pairs: list[tuple[int, int]], first: int, last: int) -> int:
    return len({t for start, length in pairs for t in range(max(start, first), min(start + length, last))})


@given(intervals)
def test_union_counts_overlap_once(pairs: list[tuple[int, int]]) -> None:
    start = np.array([start for start, _ in pairs], dtype=float)
    length = np.array([length for _, length in pairs], dtype=float)
    assert union(start, start + length) == _counted(pairs, 0, 100)


@given(intervals, st.integers(0, 40), st.integers(1, 40))
def test_window_clips_intervals_to_its_ends(pairs: list[tuple[int, int]], first: int, length: int) -> None:
    start = np.array([start for start, _ in pairs], dtype=float)
    end = start + np.array([length for _, length in pairs], dtype=float)
    found = window(start, end, float(first), float(first + length))
    assert found.busy == _counted(pairs, first, first + length)
    assert found.idle == length - found.busy
