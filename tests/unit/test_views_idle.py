"""Idle time by cause, on timelines small enough to check by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities
from nsight_insight.views.coverage import Intervals
from nsight_insight.views.idle import Gaps, avoidable, find_gaps, idle_facts, prepares_data
from nsight_insight.views.timeline import Window, window
from nsight_insight.views.totals import Totals
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
CAUSES = ("launch", "sync", "allocation", "module", "copy", "data", "host")


def kernel(start: float, length: float, correlation: int) -> Row:
    return {"name": "k", "start": start, "duration": length, "correlation": correlation, "device": 0}


def call(name: str, start: float, end: float, correlation: int = -1, thread: int = 7) -> Row:
    return {
        "kind": "api", "name": name, "start": start, "duration": end - start, "correlation": correlation,
        "process": 1, "thread": thread, "device": 0,
    }  # fmt: skip


def labelled(name: str, start: float, end: float, thread: int = 7) -> Row:
    return {**call(name, start, end, thread=thread), "kind": "range"}


def facts(rows: list[Row], first: float = 0.0, last: float = 1000.0) -> dict[str, float]:
    """Times in ns of the idle facts over [first, last]."""
    acts = Activities(make_profile(rows, report="cuda_gpu_trace"))
    work = acts.rows(acts.kind(*KINDS))
    start = acts.column("start")[work]
    steady = window(start, start + acts.column("duration")[work], first, last)
    totals = Totals()
    idle_facts(acts, work, steady, totals)
    return {name: value * 1e9 if name.endswith(("_time", "_gap")) else value for name, value in totals.values.items()}


KINDS = (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)
PAIR = [kernel(0, 100, 1), kernel(500, 500, 2), call("cudaLaunchKernel", -20, -10, 1)]
"""A gap of 400 ns; the call for the second kernel comes with each test."""


def only(found: dict[str, float], **expected: float) -> None:
    """The named causes are as expected, every other one is zero, and together they are the idle time."""
    times = {name: found[f"idle_{name}_time"] for name in (*CAUSES, "queued", "unknown")}
    assert times == pytest.approx({**dict.fromkeys(times, 0.0), **expected}, abs=1e-6)
    assert sum(times.values()) == pytest.approx(400)


def test_late_launch_is_the_hosts_until_the_call_returns() -> None:
    found = facts([*PAIR, call("cudaLaunchKernel", 430, 450, 2)])
    only(found, launch=350, queued=50)
    assert found["host_bound_share"] == pytest.approx(0.35)
    assert found["idle_share"] == pytest.approx(0.4)
    assert found["gaps"] == 1
    assert found["median_gap"] == pytest.approx(400)


def test_work_queued_in_time_is_not_the_hosts_fault() -> None:
    found = facts([*PAIR, call("cudaLaunchKernel", 10, 20, 2)])
    only(found, queued=400)
    assert found["host_bound_share"] == 0


def test_waiting_before_the_gap_makes_it_a_synchronization() -> None:
    found = facts([*PAIR, call("cudaStreamSynchronize", 0, 110), call("cudaLaunchKernel", 430, 450, 2)])
    only(found, sync=100, launch=250, queued=50)


def test_a_long_wait_explains_the_whole_gap() -> None:
    rows = [kernel(-900, 1000, 1), *PAIR[1:], call("cudaDeviceSynchronize", -800, 120)]
    found = facts([*rows, call("cudaLaunchKernel", 430, 450, 2)], first=-1000.0)
    assert found["idle_sync_time"] == pytest.approx(350)
    assert found["idle_launch_time"] == 0


def test_a_wait_of_another_thread_is_no_cause() -> None:
    rows = [*PAIR, call("cudaStreamSynchronize", 0, 110, thread=8), call("cudaLaunchKernel", 430, 450, 2)]
    only(facts(rows), launch=350, queued=50)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("cudaMalloc_v3020", "allocation"), ("cudaFree", "allocation"), ("cudaHostAlloc", "allocation"),
        ("cuModuleLoadData", "module"), ("cuLibraryLoadData", "module"), ("cudaMemcpyAsync", "copy"),
    ],
)  # fmt: skip
def test_calls_inside_the_gap_explain_their_own_length(name: str, cause: str) -> None:
    rows = [*PAIR, call(name, 200, 330), call("cudaLaunchKernel", 430, 450, 2)]
    only(facts(rows), **{cause: 130, "launch": 220, "queued": 50})


def test_nested_calls_count_once_for_the_inner_cause() -> None:
    rows = [
        *PAIR,
        call("cuLibraryLoadData", 200, 300),
        call("cudaMalloc", 150, 330),
        call("cudaLaunchKernel", 430, 450, 2),
    ]
    only(facts(rows), module=100, allocation=80, launch=170, queued=50)


def test_a_range_that_loads_data() -> None:
    rows = [*PAIR, labelled(":load", 90, 400), call("cudaLaunchKernel", 430, 450, 2)]
    only(facts(rows), data=300, launch=50, queued=50)
    only(facts([*rows[:3], labelled(":load", 90, 400, thread=9), rows[-1]]), launch=350, queued=50)


def test_a_long_silence_of_the_host_is_not_called_launching() -> None:
    rows = [kernel(0, 100, 1), kernel(5e6, 500, 2), call("cudaLaunchKernel", 4.9e6, 4.95e6, 2)]
    found = facts(rows, last=5e6)
    assert found["idle_host_time"] == pytest.approx(4.95e6 - 100)
    assert found["idle_launch_time"] == 0


def test_gaps_are_known_and_causes_unknown_without_calls() -> None:
    found = facts(PAIR[:2])
    assert found["idle_unknown_time"] == pytest.approx(400)
    assert found["gaps"] == 1
    assert not found.keys() & {*(f"idle_{cause}_time" for cause in CAUSES), "host_bound_share", "idle_queued_time"}


def test_queueing_times_tell_the_hosts_part_but_not_its_cause() -> None:
    late = {**kernel(500, 500, 2), "api_duration": 20.0, "queue_duration": 50.0}
    found = facts([PAIR[0], late])
    assert found["host_bound_share"] == pytest.approx(0.35)
    assert found["idle_unknown_time"] == pytest.approx(350)
    assert found["idle_queued_time"] == pytest.approx(50)
    assert "idle_launch_time" not in found


def test_the_same_id_in_two_processes_is_two_calls() -> None:
    rows = [{**row, "process": 1} for row in PAIR]
    rows += [call("cudaLaunchKernel", 430, 450, 2), {**call("cudaLaunchKernel", 10, 20, 2), "process": 2}]
    only(facts(rows), launch=350, queued=50)
    unclear = facts([{**row, "process": -1 if row.get("kind") != "api" else row["process"]} for row in rows])
    assert unclear["idle_unknown_time"] == pytest.approx(400), "which of the two calls it was is not known"


def test_gaps_are_clipped_to_the_window() -> None:
    acts = Activities(make_profile(PAIR[:2], report="cuda_gpu_trace"))
    gaps = find_gaps(acts, np.array([0, 1]), Window(200.0, 450.0, 0.0))
    assert list(gaps.start) == [200.0]
    assert list(gaps.end) == [450.0]
    assert not len(find_gaps(acts, np.array([0, 1]), Window(600.0, 900.0, 300.0)).start)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=15))
def test_credit_is_earned_by_waiting_and_spent_once(rounds: list[tuple[int, int, int]]) -> None:
    """(busy time waited through, gap, part of the gap without another cause) per round, against a plain loop."""
    starts, ends, lengths, waits = [], [], [], []
    now = 0
    for waited, gap, length in rounds:
        waits.append((now, now + waited))
        starts.append(now + waited)
        now += waited + gap
        ends.append(now)
        lengths.append(min(length, gap))
    lane = np.zeros(len(rounds), dtype=np.int64)
    gaps = Gaps(np.array(starts, float), np.array(ends, float), lane)
    wait = Intervals(np.array([w[0] for w in waits], float), np.array([w[1] for w in waits], float), lane)
    credit, expected = 0, []
    for (waited, _, _), length in zip(rounds, lengths, strict=True):
        credit += waited
        expected.append(min(credit, length))
        credit -= expected[-1]
    assert list(avoidable(gaps, np.array(lengths, float), wait, 0.0)) == expected


@pytest.mark.parametrize(
    "name",
    [
        ":load", "load batch", "next_batch", "DataLoader", "get_batch", "data_loading", "fetch", "load_data", "dataset",
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "augment", "collate", "decode images",
    ],
)  # fmt: skip
def test_names_of_data_preparation(name: str) -> None:
    assert prepares_data(name)


@pytest.mark.parametrize(
    "name",
    [
        "forward", "batch 3", "step 1", "load_state_dict", "data_parallel", "batch_norm", "aten::embedding", "decoder",
        "decode", "prefill",
        "load weights", "aten::data", "NCCL:ncclAllReduce", "optimizer", "",
    ],
)  # fmt: skip
def test_names_that_mean_something_else(name: str) -> None:
    assert not prepares_data(name)
