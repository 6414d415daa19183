"""Runs of elementwise kernels, attention written out, and copies that no kernel hides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.views.build import build
from nsight_insight.views.facts import KERNEL, TRACE
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
_ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::"
MUL = f"{_ELEMENTWISE}binary_internal::MulFunctor<float>, std::array<char*, 2ul> >(int, T2, T3)"
ADD = f"{_ELEMENTWISE}CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, T2, T3)"
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 11, false, false>()"
GEMM = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"


def _kernel(name: str, start: float, length: float = 100, *, grid: int = 1000, stream: int = 1) -> Row:
    return {
        "name": name, "start": start, "duration": length, "stream": stream, "device": 0,
        "grid_x": grid, "grid_y": 1, "grid_z": 1, "block_x": 128, "block_y": 1, "block_z": 1,
    }  # fmt: skip


def _fusible(rows: list[Row]) -> dict[str, float]:
    table = build(make_profile(rows, report="cuda_gpu_trace"), KERNEL)
    return dict(zip(table.values["name"], table.values["fusible_time"] * 1e9, strict=True))


def _trace(rows: list[Row], name: str) -> float:
    return float(build(make_profile(rows, report="cuda_gpu_trace"), TRACE).values[name][0]) * 1e9


def test_all_but_one_of_equal_kernels_in_a_run_can_go() -> None:
    found = _fusible([_kernel(MUL, 0), _kernel(ADD, 100), _kernel(MUL, 200), _kernel(ADD, 300)])
    assert found == {MUL: pytest.approx(150), ADD: pytest.approx(150)}


def test_a_lone_kernel_between_products_saves_nothing() -> None:
    assert _fusible([_kernel(GEMM, 0), _kernel(MUL, 100), _kernel(GEMM, 200), _kernel(MUL, 300)])[MUL] == 0


@pytest.mark.parametrize("other", [_kernel(ADD, 100, stream=2), _kernel(ADD, 100, grid=50000)])
def test_other_streams_and_other_sizes_are_no_run(other: Row) -> None:
    assert _fusible([_kernel(MUL, 0), other]) == {MUL: 0, ADD: 0}


def test_runs_end_with_the_step() -> None:
    steps = [{**_kernel(MUL, 100 * number), "nvtx": f"step {number}"} for number in range(4)]
    assert _fusible(steps) == {MUL: 0}


def test_sums_without_order_say_nothing() -> None:
    table = build(make_profile([{"name": MUL, "count": 10, "duration": 1000.0, "device": 0}]), KERNEL)
    assert np.isnan(table.values["fusible_time"]).all()


@given(st.lists(st.sampled_from([MUL, ADD, GEMM, SOFTMAX]), min_size=1, max_size=20))
def test_fusing_never_saves_a_whole_run(names: list[str]) -> None:
    rows = [_kernel(name, 100 * place) for place, name in enumerate(names)]
    total = sum(_fusible(rows).values())
    elementwise = sum(name in (MUL, ADD) for name in names)
    assert 0 <= total <= 100 * max(elementwise - 1, 0) + 1e-6


def test_attention_is_product_softmax_product() -> None:
    rows = [_kernel(GEMM, 0, 10), _kernel(MUL, 10, 20), _kernel(SOFTMAX, 30, 40), _kernel(GEMM, 70, 15)]
    assert _trace(rows, "attention_chain_time") == pytest.approx(85)
    assert _trace(rows, "attention_between_time") == pytest.approx(60)


@pytest.mark.parametrize(
    "rows",
    [
        [_kernel(GEMM, 0), _kernel(SOFTMAX, 100)],
        [_kernel(SOFTMAX, 0), _kernel(GEMM, 100)],
        [_kernel(GEMM, 0), _kernel(SOFTMAX, 100), _kernel(GEMM, 200, stream=2)],
        [
            _kernel(GEMM, 0),
            _kernel(SOFTMAX, 100),
            _kernel("nll_loss_forward_reduce_cuda_kernel_2d", 200),
            _kernel(GEMM, 300),
        ],
    ],
    ids=["classifier", "no product before", "another stream", "a loss between"],
)
def test_a_softmax_elsewhere_is_no_attention(rows: list[Row]) -> None:
    assert _trace(rows, "attention_chain_time") == 0


def _copy(start: float, length: float, direction: str = "HtoD") -> Row:
    return {
        "kind": "memcpy", "name": "[CUDA memcpy]", "start": start, "duration": length, "direction": direction,
        "bytes": 1e6, "device": 0, "stream": 2,
    }  # fmt: skip


def test_copies_are_exposed_where_no_kernel_runs() -> None:
    rows = [_kernel(GEMM, 100, 100), _copy(150, 100), _kernel(GEMM, 300, 100)]
    assert _trace(rows, "exposed_copy_time") == pytest.approx(50)


def test_the_upload_before_the_first_kernel_and_device_copies_are_not_counted() -> None:
    rows = [
        _copy(0, 50),
        _kernel(GEMM, 100, 100),
        _copy(220, 30, "DtoD"),
        _copy(260, 30, "DtoH"),
        _kernel(GEMM, 300, 10),
    ]
    assert _trace(rows, "exposed_copy_time") == pytest.approx(30)
