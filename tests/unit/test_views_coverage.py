"""Coverage of stretches by intervals against counting every nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.views.coverage import Intervals, covered, merged

Triple = tuple[int, int, int]
triples = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 15), st.integers(0, 2)), max_size=20)


def _intervals(rows: list[Triple]) -> Intervals:
    start = np.array([row[0] for row in rows], dtype=float)
    length = np.array([row[1] for row in rows], dtype=float)
    return Intervals(start, start + length, np.array([row[2] for row in rows], dtype=np.int64))


def _moments(start: int, length: int) -> set[int]:
    return set(range(start, start + length))


@given(triples, triples)
def test_covered_counts_each_moment_once_and_only_on_its_own_lane(what: list[Triple], by: list[Triple]) -> None:
    found = covered(_intervals(what), _intervals(by))
    for length, (start, size, lane) in zip(found, what, strict=True):
        union: set[int] = set().union(*(_moments(s, d) for s, d, other in by if other == lane))
        assert length == len(_moments(start, size) & union)


@given(triples)
def test_merged_intervals_are_disjoint_and_cover_the_same(rows: list[Triple]) -> None:
    given_ = _intervals(rows)
    start, end = merged(given_.start, given_.end)
    assert (start[1:] > end[:-1]).all()
    assert (end - start).sum() == len(set().union(*(_moments(s, d) for s, d, _ in rows)))
