"""Steps from NVTX and from repetition, and refusing to guess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.views.activity import Activities
from nsight_insight.views.build import build
from nsight_insight.views.facts import SEQUENCE, TRACE
from nsight_insight.views.steps import SCALER, Steps, find_steps, is_step, repeating
from tests.unit.make_profile import make_profile

Row = dict[str, Any]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("step 3", "3"), (":step 12", "12"), ("Step", ""), ("iteration_7", "7"), ("iter#4", "4"), ("batch 0", "0"),
        ("ProfilerStep#5", "5"), ("train_step", ""), ("mydomain:step 2", "2"), ("step[8]", "8"),
    ],
)  # fmt: skip
def test_step_ranges(name: str, number: str) -> None:
    assert is_step(name) == number


@pytest.mark.parametrize(
    "name", ["forward", "optimizer.step", "Optimizer.step#AdamW.step", "stepping", "step 3 fwd", ""]
)
def test_other_ranges(name: str) -> None:
    assert is_step(name) is None


def _find(rows: list[Row], report: str = "cuda_gpu_trace") -> Steps | None:
    acts = Activities(make_profile(rows, report=report))
    return find_steps(acts, acts.base)


def _kernels(pattern: str, gap: float = 10.0) -> list[Row]:
    return [{"name": f"k{letter}", "start": gap * place, "duration": 5.0} for place, letter in enumerate(pattern)]


def test_repeating_finds_the_shortest_exact_period() -> None:
    block = list(range(12))
    codes = np.array([99, 98, *block * 4, 0])
    assert repeating(codes) == (2, 12, 4)


def test_repeating_takes_the_exact_tail_only() -> None:
    block = list(range(10, 20))
    warm_up = [7, *block, 8]
    assert repeating(np.array(warm_up + block * 3 + [10])) == (12, 10, 3)


def test_repeating_counts_a_block_that_ends_with_the_capture() -> None:
    assert repeating(np.array([7, 8, *list(range(10, 20)) * 3])) == (2, 10, 3)


def test_repeating_prefers_blocks_with_an_entry_behind_them() -> None:
    assert repeating(np.array(list(range(10, 20)) * 4)) == (0, 10, 3)


def test_a_last_block_ends_with_its_last_kernel() -> None:
    steps = _find(_kernels("xy" + "abcdefghijkl" * 3))
    assert steps is not None
    assert steps.edges is not None
    np.testing.assert_allclose(np.diff(steps.edges), [120.0, 120.0, 115.0])
    assert (steps.count, steps.steady()) == (3, (0, 3))


@pytest.mark.parametrize(
    "codes",
    [
        [],
        [1] * 500,
        list(range(200)),
        list(range(9)) * 20,
        list(range(30)) + list(range(40, 52)) * 2,
        list(range(37)) + list(range(40, 52)) * 3,
    ],
    ids=["empty", "one kernel", "no repetition", "short loop", "two blocks", "less than half"],
)
def test_repeating_refuses_what_is_not_certain(codes: list[int]) -> None:
    assert repeating(np.array(codes, dtype=np.int64)) is None


def test_one_different_launch_breaks_a_period() -> None:
    block = list(range(12))
    other = [*block[:5], 77, *block[6:]]
    assert repeating(np.array(block * 2 + other + block + other + [0])) is None


def test_steps_by_repetition() -> None:
    steps = _find(_kernels("xy" + "abcdefghijkl" * 4 + "a"))
    assert steps is not None
    assert steps.count == 4
    np.testing.assert_array_equal(steps.edges, np.array([2, 14, 26, 38, 50]) * 10.0)
    assert steps.steady() == (0, 4)


def test_repetition_does_not_depend_on_row_order() -> None:
    rows = _kernels("abcdefghijkl" * 4 + "a")
    steps = _find(rows[::-1])
    assert steps is not None
    np.testing.assert_array_equal(steps.edges, np.array([0, 12, 24, 36, 48]) * 10.0)


def test_steps_by_the_ranges_beside_each_kernel() -> None:
    rows = _kernels("abab")
    for row, nvtx in zip(rows, ["step 0/forward", "step 0", "step 1/forward", "other"], strict=True):
        row["nvtx"] = nvtx
    steps = _find(rows)
    assert steps is not None
    assert list(steps.index if steps.index is not None else []) == [0, 0, 1, -1]
    assert steps.steady() == (1, 2)


def test_steps_by_projected_ranges() -> None:
    ranges = [{"kind": "range", "name": f":step {n}", "start": 20.0 * n, "duration": 18.0} for n in (1, 0)]
    steps = _find([*_kernels("abab"), *ranges], report="nvtx_gpu_proj_trace")
    assert steps is not None
    assert list(steps.index if steps.index is not None else []) == [0, 0, 1, 1]
    np.testing.assert_array_equal(steps.edges, [0.0, 20.0, 35.0])


def test_host_ranges_need_the_launching_call() -> None:
    ranges = [{"kind": "range", "name": f"step {n}", "start": 4.0 * n, "duration": 3.0} for n in (0, 1)]
    kernels = [{**row, "correlation": place} for place, row in enumerate(_kernels("abab", gap=100.0))]
    calls = [
        {"kind": "api", "name": "cudaLaunchKernel", "start": when, "duration": 0.1, "correlation": place}
        for place, when in enumerate((0.5, 1.5, 4.5, 5.5))
    ]
    without_calls = _find([*kernels, *ranges])
    assert without_calls == Steps(2)
    steps = _find([*kernels, *ranges, *calls])
    assert steps is not None
    np.testing.assert_array_equal(steps.edges, [0.0, 200.0, 305.0])


def test_a_summary_counts_ranges_or_scaler_updates() -> None:
    ranges = [{"kind": "range", "name": ":step 0", "count": 1}, {"kind": "range", "name": ":step 1", "count": 1}]
    assert _find([{"name": "k", "count": 9, "duration": 1.0}, *ranges], report="nvtx_sum") == Steps(2)
    scaler = "at::native::amp_update_scale_cuda_kernel(float *, int *, const float *, double, double, int)"
    assert _find([{"name": scaler, "count": 4, "duration": 1.0}]) == Steps(4, basis=SCALER)
    assert _find([{"name": "k", "count": 9, "duration": 1.0}]) is None


def test_scaler_updates_end_steps_in_a_trace() -> None:
    scaler = "at::native::amp_update_scale_cuda_kernel(float *, int *, const float *, double, double, int)"
    rows = _kernels("ab" + "abc" + "ab" + "c")
    for place in (1, 4, 6):
        rows[place]["name"] = scaler
    steps = _find(rows)
    assert steps is not None
    assert list(steps.index if steps.index is not None else []) == [0, 0, 1, 1, 1, 2, 2, -1]
    np.testing.assert_array_equal(steps.edges, [0.0, 20.0, 50.0, 65.0])


def test_slow_leading_steps_are_warm_up() -> None:
    edges = np.array([0.0, 1000.0, 1100.0, 1120.0, 1140.0, 1160.0])
    assert Steps(5, edges=edges).steady() == (2, 5)
    assert Steps(1, edges=np.array([0.0, 5.0])).steady() is None


def test_steady_facts_cut_the_warm_up_off() -> None:
    rows = [
        {"name": "k", "start": start, "duration": 10.0, "nvtx": f"step {number}"}
        for number, start in enumerate((0.0, 5000.0, 5020.0, 5040.0))
    ]
    table = build(make_profile(rows, report="cuda_gpu_trace"), TRACE)
    assert table.values["window"][0] == pytest.approx(5050e-9)
    assert table.values["steady_window"][0] == pytest.approx(50e-9)
    assert table.values["steady_busy"][0] == pytest.approx(30e-9)
    assert table.values["steady_launches"][0] == 3


def test_repeats_per_step_counts_name_and_grid() -> None:
    rows: list[Row] = []
    for number in range(3):
        for place, (name, grid) in enumerate((("cast", 8.0), ("cast", 8.0), ("cast", 9.0), ("gemm", 8.0))):
            rows.append({
                "name": name, "grid_x": grid, "block_x": 32.0, "start": 100.0 * number + place, "duration": 1.0,
                "nvtx": f"step {number}",
            })  # fmt: skip
    table = build(make_profile(rows, report="cuda_gpu_trace"), SEQUENCE)
    np.testing.assert_array_equal(table.values["repeats_per_step"][:4], [2, 2, 1, 1])
    np.testing.assert_array_equal(table.values["steps"], np.full(12, 3))
