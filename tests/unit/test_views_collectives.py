"""Waiting inside collectives, and kernels that run slower beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE, FactTable
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
BROADCAST = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"


def _kernel(start: float, duration: float, *, device: int = 0, name: str = "mine", **more: Any) -> Row:
    family = "collective" if name.startswith("nccl") else "elementwise"
    return {"name": name, "family": family, "start": start, "duration": duration, "device": device, "stream": 7, **more}


def _collective(first: float, second: float, end: float, name: str = REDUCE) -> list[Row]:
    """One collective that both devices end together."""
    return [_kernel(start, end - start, device=place, name=name) for place, start in enumerate((first, second))]


def _trace(rows: list[Row]) -> FactTable:
    return build(make_profile(rows, report="cuda_gpu_trace"), TRACE)


def test_the_early_device_waits_for_the_late_one() -> None:
    rows = [*_collective(1000, 1600, 1800), *_collective(3000, 3500, 3700), *_collective(5100, 5000, 5300)]
    table = _trace(rows)
    assert table.values["comm_wait_time"] == pytest.approx([1100e-9, 100e-9])
    assert list(table.values["comm_waits"]) == [2, 0]
    assert table.values["comm_joined_last"] == pytest.approx([1 / 3, 2 / 3])


def test_waiting_is_zero_where_all_join_together() -> None:
    table = _trace([row for place in range(5) for row in _collective(place * 100, place * 100, place * 100 + 50)])
    assert list(table.values["comm_wait_time"]) == [0, 0]
    assert list(table.values["comm_waits"]) == [0, 0]


def test_a_broadcast_tells_nothing_because_its_root_ends_first() -> None:
    assert "comm_wait_time" not in _trace(_collective(1000, 1600, 1800, BROADCAST)).values


@pytest.mark.parametrize(
    "rows",
    [
        [*_collective(1000, 1600, 1800), _kernel(4000, 10, name=REDUCE)],
        [_kernel(1000, 100, name=REDUCE), _kernel(5000, 100, name=REDUCE, device=1)],
        [_kernel(1000, 100, name=REDUCE), _kernel(1300, 100, name=REDUCE)],
    ],
    ids=["different numbers", "not at the same time", "one device"],
)
def test_unmatched_collectives_stay_unknown(rows: list[Row]) -> None:
    assert "comm_wait_time" not in _trace(rows).values


def test_swapping_the_devices_swaps_the_facts() -> None:
    rows = [*_collective(1000, 1600, 1800), *_collective(3000, 3500, 3700)]
    swapped = [{**row, "device": 1 - row["device"]} for row in rows]
    one, other = _trace(rows), _trace(swapped)
    for name in ("comm_wait_time", "comm_waits", "comm_joined_last"):
        assert list(one.values[name]) == pytest.approx(list(other.values[name][::-1]))


def test_kernels_beside_a_collective_are_compared_with_their_median_alone() -> None:
    alone = [_kernel(place * 1000, length) for place, length in enumerate((90, 100, 110, 4000 / 7))]
    beside = [_kernel(100_000 + place * 1000, 160) for place in range(4)]
    table = _trace([*alone, *beside, _kernel(99_000, 10_000, name=REDUCE, stream=9)])
    usual = (100 + 110) / 2
    assert table.values["comm_slowdown_time"][0] == pytest.approx(4 * (160 - usual) * 1e-9)
    assert table.values["comm_beside_time"][0] == pytest.approx(640e-9)


def test_other_grids_are_other_kernels() -> None:
    alone = [_kernel(place * 1000, 100, grid_x=8.0, block_x=32.0) for place in range(4)]
    beside = [_kernel(100_000 + place * 1000, 160, grid_x=16.0, block_x=32.0) for place in range(4)]
    table = _trace([*alone, *beside, _kernel(99_000, 10_000, name=REDUCE, stream=9)])
    assert table.values["comm_slowdown_time"][0] == 0


def test_nothing_is_slowed_down_without_collectives() -> None:
    table = _trace([_kernel(place * 1000, 100 + place) for place in range(9)])
    assert table.values["comm_slowdown_time"][0] == 0
    assert table.values["comm_beside_time"][0] == 0
    assert not np.isnan(table.values["kernel_time"]).any()


def test_kernels_on_two_streams_stack_up() -> None:
    table = _trace([_kernel(0, 100), _kernel(50, 100, stream=8), _kernel(1000, 50)])
    assert table.values["kernel_concurrency"][0] == pytest.approx(250 / 200)
    copy = {
        "kind": "memcpy",
        "name": "[CUDA memcpy Unified Host-to-Device]",
        "start": 0.0,
        "duration": 150.0,
        "device": 0,
    }
    again = _trace([_kernel(0, 100), _kernel(50, 100, stream=8), _kernel(1000, 50), copy])
    assert again.values["kernel_concurrency"][0] == pytest.approx(250 / 200), "copies do not use the SMs"


def test_collectives_of_fp32_values_and_products_of_narrow_ones_are_summed_by_name() -> None:
    rows: list[Row] = [
        {
            "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            "family": "collective",
            "dtype_in": "fp32",
            "duration": 700.0,
        },
        {"name": REDUCE, "family": "collective", "dtype_in": "bf16", "duration": 300.0},
        {"name": "hgemm_128", "family": "gemm", "dtype_in": "fp16", "tensor_core": "no", "duration": 50.0},
        {"name": "sgemm_128", "family": "gemm", "dtype_in": "fp32", "tensor_core": "no", "duration": 60.0},
        {"name": "flash", "family": "attention", "dtype_in": "fp16", "tensor_core": "no", "duration": 70.0},
    ]
    table = build(make_profile(rows), TRACE)
    assert table.values["fp32_collective_time"][0] == pytest.approx(700e-9)
    assert table.values["half_cuda_core_time"][0] == pytest.approx(50e-9)
