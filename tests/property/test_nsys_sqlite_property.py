"""The sweep over NVTX ranges and the join of kernels to calls, against the slow and obvious way."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight import api
from nsight_insight.readers._sqlite_nvtx import nest, paths_at
from tests.unit.make_nsys import NVTX, K, M, R, Row, call, copy, export, kernel, nvtx


@st.composite
def stacks(draw: st.DrawFn) -> list[tuple[int, int, int, str]]:
    """Thread, start, end and text of push/pop ranges as a program would nest them."""
    found: list[tuple[int, int, int, str]] = []
    for thread in range(draw(st.integers(1, 3))):
        opened: list[int] = []
        now = 0
        for push in draw(st.lists(st.booleans(), max_size=14)):
            now += draw(st.integers(0, 3))
            if push:
                opened.append(now)
            elif opened:
                found.append((thread, opened.pop(), now, f"r{len(found)}"))
        found += [(thread, start, now + 5, f"open{start}") for start in dict.fromkeys(opened)]
    return found


@given(stacks(), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), max_size=20), st.randoms())
def test_open_ranges_are_those_that_contain_the_time(
    ranges: list[tuple[int, int, int, str]], asked: list[tuple[int, int]], random: object
) -> None:
    random.shuffle(ranges)  # type: ignore[attr-defined]
    thread, start, end = (np.array([row[i] for row in ranges], dtype=np.int64) for i in range(3))
    texts = np.array([row[3] for row in ranges], dtype=object)
    built = nest(thread, start.astype(float), end.astype(float), texts)
    wanted = np.array([number for number, _ in asked], dtype=np.int64)
    when = np.array([time for _, time in asked], dtype=np.float64)
    for (number, time), path in zip(asked, paths_at(built, wanted, when), strict=True):
        inside = [row for row in ranges if row[0] == number and row[1] <= time <= row[2]]
        last = max((row[1] for row in inside), default=-1)
        # Where one range ends at the very time another begins, only the one that begins counts as open.
        sure = {row[3] for row in inside if row[1] < time < row[2]}
        assert sure <= set(path.split("/"))
        assert set(filter(None, path.split("/"))) <= {row[3] for row in inside}
        lengths = [row[2] - row[1] for name in filter(None, path.split("/")) for row in inside if row[3] == name]
        assert lengths == sorted(lengths, reverse=True)
        assert bool(path) == (last >= 0)


IDS = st.integers(0, 6)
PROCESSES = st.sampled_from((100, 200, 300))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(PROCESSES, IDS, st.integers(1, 40), st.integers(0, 9)), max_size=12),
    st.lists(st.tuples(PROCESSES, IDS, st.integers(1, 40), st.integers(0, 9)), max_size=12),
)
def test_every_kernel_once_with_its_own_call(
    kernels: list[tuple[int, int, int, int]], calls: list[tuple[int, int, int, int]]
) -> None:
    made: dict[str, list[Row]] = {
        K: [kernel(start, start + length, id_, process=process) for process, id_, start, length in kernels],
        R: [call(start, start + length, id_, name=3, process=process) for process, id_, start, length in calls],
        M: [copy(1, 2, 99)],
    }
    with TemporaryDirectory() as folder:
        frame = api.load(export(Path(folder) / "x.sqlite", made)).activities
    found = frame[frame["kind"] == "kernel"]
    assert found["line"].tolist() == list(range(1, len(kernels) + 1))
    for (process, id_, start, _), row in zip(kernels, found.itertuples(), strict=True):
        own = sorted((begin, length) for owner, number, begin, length in calls if (owner, number) == (process, id_))
        if not own:
            assert np.isnan(row.api_duration)
            continue
        begin = own[0][0]
        assert row.api_duration in {length for first, length in own if first == begin}
        queue = start - begin - row.api_duration
        assert (np.isnan(row.queue_duration) and queue < 0) or row.queue_duration == queue


@settings(max_examples=20, deadline=None)
@given(st.randoms(), st.booleans())
def test_the_order_of_rows_changes_nothing_but_their_numbers(random: object, ranges: bool) -> None:
    made: dict[str, list[Row]] = {
        K: [kernel(100 * n, 100 * n + 10 + n, n, name=1 + 3 * (n % 2)) for n in range(1, 20)],
        R: [call(100 * n - 50, 100 * n - 40, n) for n in range(1, 20)],
        NVTX: [nvtx(100 * n - 60, 100 * n - 5, f"step {n}") for n in range(1, 20)] if ranges else [],
    }
    columns = ["name", "start", "duration", "api_duration", "queue_duration", "nvtx", "device"]
    frames = []
    with TemporaryDirectory() as folder:
        for number in range(2):
            frame = api.load(export(Path(folder) / f"{number}.sqlite", made)).activities
            frames.append(frame.sort_values(["kind", "start"])[columns].reset_index(drop=True))
            for rows in made.values():
                random.shuffle(rows)  # type: ignore[attr-defined]
    pd.testing.assert_frame_equal(*frames)
