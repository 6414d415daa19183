"""Exposed collectives, concurrency, graph launches and step lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE
from nsight_insight.views.overlap import step_facts
from nsight_insight.views.steps import Steps
from nsight_insight.views.totals import Totals
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)"


def _kernel(name: str, start: float, length: float, stream: int = 1) -> Row:
    return {"name": name, "start": start, "duration": length, "stream": stream, "device": 0}


def _value(rows: list[Row], name: str) -> float:
    return float(build(make_profile(rows, report="cuda_gpu_trace"), TRACE).values[name][0])


def test_a_collective_is_exposed_where_nothing_else_runs() -> None:
    rows = [_kernel("sgemm", 0, 100), _kernel(NCCL, 60, 100, 2), _kernel("sgemm", 150, 50)]
    assert _value(rows, "comm_time") == pytest.approx(100e-9)
    assert _value(rows, "comm_exposed_time") == pytest.approx(50e-9)
    assert _value(rows, "concurrency") == pytest.approx(250 / 200)


def test_collectives_on_two_streams_are_exposed_once() -> None:
    rows = [_kernel(NCCL, 0, 100, 2), _kernel(NCCL, 50, 100, 3), _kernel("sgemm", 400, 10)]
    assert _value(rows, "comm_time") == pytest.approx(200e-9)
    assert _value(rows, "comm_exposed_time") == pytest.approx(150e-9)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 60), st.integers(1, 15)), min_size=1, max_size=15))
def test_exposed_time_against_counting_moments(drawn: list[tuple[bool, int, int]]) -> None:
    rows = [_kernel(NCCL if comm else "sgemm", start, length) for comm, start, length in drawn]
    moments: tuple[set[int], set[int]] = (set(), set())
    for comm, start, length in drawn:
        moments[comm].update(range(start, start + length))
    assert _value(rows, "comm_exposed_time") == pytest.approx(len(moments[1] - moments[0]) * 1e-9)


def test_graph_launches_are_counted_by_their_calls() -> None:
    call = {"kind": "api", "start": 0.0, "duration": 5.0, "device": 0}
    rows = [_kernel("sgemm", 10, 10), {**call, "name": "cudaGraphLaunch_v10000"}, {**call, "name": "cuGraphLaunch"}]
    assert _value([*rows, {**call, "name": "cudaLaunchKernel_v7000"}], "graph_launches") == 2
    graph = {**_kernel("graph 1", 10, 10), "kind": "graph", "count": 1}
    assert _value([_kernel("sgemm", 0, 10), graph], "graph_launches") == 1
    assert "graph_launches" not in build(make_profile([_kernel("sgemm", 0, 10)]), TRACE).values


def test_step_lengths_leave_warm_up_out() -> None:
    totals = Totals()
    lengths = [900, 100, 110, 90, 400, 100]
    step_facts(Steps(6, None, np.cumsum([0, *lengths]).astype(float)), totals)
    found = {name: value * 1e9 for name, value in totals.values.items()}
    assert found["step_median"] == pytest.approx(100)
    assert found["step_max"] == pytest.approx(400)
    assert totals.values["slow_steps"] == 1
    assert found["slow_step_time"] == pytest.approx(300)
    without = Totals()
    step_facts(Steps(3), without)
    assert not without.values
