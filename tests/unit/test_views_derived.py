"""Derived facts by hand-worked numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.views.derived import CHIP_STALLS, derive
from nsight_insight.views.facts import STALLS
from nsight_insight.views.precision import own_type
from nsight_insight.views.work import Columns, work_columns

NAN = float("nan")


def _columns(**values: Any) -> Columns:
    texts = {"name", "tensor_core", "dtype_in"}
    arrays = {k: np.array([v], dtype=object if k in texts else float) for k, v in values.items()}
    return Columns(arrays, 1)


def _fact(name: str, /, **values: Any) -> Any:
    return derive(_columns(**values))[name][0]


@pytest.mark.parametrize(
    ("waves", "loss"), [(0.0, 0.0), (0.97, 0.0), (1.0, 0.0), (1.02, 0.49), (1.98, 0.01), (2.0, 0.0), (3.88, 0.03)]
)
def test_tail_loss(waves: float, loss: float) -> None:
    assert _fact("tail_loss", waves=waves) == pytest.approx(loss)


def test_tail_loss_of_persistent_kernels_is_none() -> None:
    assert _fact("tail_loss", waves=1.5, name="my_persistent_gemm") == 0
    assert _fact("tail_loss", waves=1.5, name="cutlass_StreamK_gemm") == 0
    assert np.isnan(_fact("tail_loss", waves=NAN, name="my_persistent_gemm"))


def test_occupancy_limiter() -> None:
    limits = {"registers": 4.0, "shared_mem": 3.0, "blocks": 32.0, "warps": 16.0}
    named = {f"occupancy_limit_{name}": limit for name, limit in limits.items()}
    assert _fact("occupancy_limiter", **named) == "shared_mem"
    assert _fact("occupancy_limiter", **named, occupancy_limit_barriers=1.0) == "barriers"
    assert _fact("occupancy_limiter", **{**named, "occupancy_limit_warps": 3.0}) == "warps", "a full SM blames nobody"
    assert _fact("occupancy_limiter", **{**named, "occupancy_limit_blocks": NAN}) is None


def _stalls(**values: float) -> dict[str, float]:
    return {f"stall_{name}": values.get(name, 0.0) for name in STALLS if name not in CHIP_STALLS or name in values}


def test_stall_shares_and_the_dominant_one() -> None:
    values = _stalls(long_scoreboard=6.0, wait=2.0, selected=1.0, not_selected=7.0)
    found = derive(_columns(**values, warp_latency=20.0))
    assert found["stall_share_long_scoreboard"][0] == pytest.approx(0.3)
    assert found["stall_top"][0] == "long_scoreboard", "not_selected is no stall"
    assert found["stall_top_share"][0] == pytest.approx(0.3)
    assert found["stall_coverage"][0] == pytest.approx(16 / 20)


def test_stalls_without_latency_are_shares_of_their_sum() -> None:
    assert _fact("stall_share_wait", **_stalls(wait=3.0, barrier=9.0)) == pytest.approx(0.25)


def test_some_stalls_alone_name_no_dominant_one() -> None:
    found = derive(_columns(stall_wait=3.0, warp_latency=10.0))
    assert found["stall_share_wait"][0] == pytest.approx(0.3)
    assert found["stall_top"][0] is None
    assert np.isnan(found["stall_top_share"][0])
    assert np.isnan(_fact("stall_share_wait", stall_wait=3.0)), "a part of an unknown whole"


def test_shares_of_nothing_are_zero() -> None:
    assert _fact("bank_conflict_share", shared_bank_conflicts=0.0, shared_wavefronts=0.0) == 0
    assert _fact("excess_sectors", sectors_global=0.0, sectors_global_ideal=0.0) == 0
    assert _fact("fp64_share", fp64_instructions=0.0) == 0


def test_memory_shares() -> None:
    assert _fact("excess_sectors", sectors_global=400.0, sectors_global_ideal=100.0) == pytest.approx(0.75)
    assert _fact("excess_sectors", sectors_global=90.0, sectors_global_ideal=100.0) == 0
    split = {"shared_load_bank_conflicts": 30.0, "shared_store_bank_conflicts": 10.0}
    wavefronts = {"shared_load_wavefronts": 60.0, "shared_store_wavefronts": 40.0}
    assert _fact("bank_conflict_share", **split, **wavefronts) == pytest.approx(0.4)
    sectors = {"local_load_sectors": 5.0, "local_store_sectors": 5.0}
    assert _fact("local_share", **sectors, global_load_sectors=60.0, global_store_sectors=30.0) == pytest.approx(0.1)


def test_throughput_needs_both_sides() -> None:
    assert _fact("max_throughput", sm_throughput=0.2, memory_throughput=0.7) == 0.7
    assert np.isnan(_fact("max_throughput", sm_throughput=0.2))


def test_tensor_utilization_knows_the_cap() -> None:
    assert _fact("tensor_utilization", tensor_active=0.488, tensor_cap=0.5) == pytest.approx(0.976)
    assert np.isnan(_fact("tensor_utilization", tensor_active=0.488))


def _work(**values: Any) -> dict[str, float]:
    return {name: float(column[0]) for name, column in work_columns(_columns(**values)).items()}


PER_CYCLE = {"fp32_add_per_cycle": 10.0, "fp32_mul_per_cycle": 20.0, "fp32_fma_per_cycle": 100.0}


def test_operations_from_counters_or_rates() -> None:
    rates = {"tensor_rate_fp16": 1000.0, "tensor_rate_bf16": 0.0, "elapsed_cycles": 50.0}
    assert _work(**rates)["work_tensor"] == 50_000
    assert _work(**rates, tensor_ops_fp16=51_000.0)["work_tensor"] == 51_000
    assert _work(**rates, **PER_CYCLE)["work_ops"] == 50_000 + 230 * 50


def test_an_idle_tensor_pipe_did_no_matrix_work() -> None:
    work = _work(**PER_CYCLE, elapsed_cycles=10.0, tensor_active=0.013)
    assert work["work_tensor"] == 0
    assert work["work_ops"] == 2300


def test_a_busy_tensor_pipe_without_its_counter_is_unknown_work() -> None:
    work = _work(**PER_CYCLE, elapsed_cycles=10.0, tensor_active=0.4, tensor_ops_fp16=0.0)
    assert np.isnan(work["work_tensor"])
    assert np.isnan(work["work_ops"])


def test_bytes_from_either_counter_give_the_intensity() -> None:
    work = {name: np.array([value]) for name, value in _work(
        tensor_ops_fp16=9000.0, dram_read_bytes=20.0, dram_write_bytes=10.0, tensor_active=0.5,
    ).items()}  # fmt: skip
    found = derive(Columns({**work, "duration": np.array([3.0])}, 1))
    assert found["arithmetic_intensity"][0] == 300
    assert found["tensor_flops_rate"][0] == 3000
    assert found["dram_bytes_moved"][0] == 30


@pytest.mark.parametrize(
    ("dtype", "tensor", "counters", "expected"),
    [
        ("fp32", "no", {}, "fp32"),
        ("fp32", "yes", {}, "tf32"),
        ("fp32", None, {}, None),
        ("fp32", None, {"tensor_ops_fp16": 0.0}, "fp32"),
        ("fp32", "no", {"tensor_ops_tf32": 5.0}, "tf32"),
        ("16bit", "yes", {}, "fp16"),
        ("16bit", "yes", {"tensor_ops_fp16": 0.0, "tensor_ops_bf16": 7.0}, "bf16"),
        ("fp16", "no", {}, None),
        ("fp64", None, {}, "fp64"),
        (None, "yes", {}, None),
    ],
)
def test_own_type(dtype: str | None, tensor: str | None, counters: dict[str, float], expected: str | None) -> None:
    found = own_type(np.array([dtype], dtype=object), np.array([tensor], dtype=object), _columns(**counters))
    assert found[0] == expected
