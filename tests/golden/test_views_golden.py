"""Facts of the real H200 captures, against numbers counted from the same files in other ways."""

from __future__ import annotations

import csv
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from nsight_insight.api import load
from nsight_insight.views.build import Views, build_all
from nsight_insight.views.facts import FAMILIES, KERNEL, LAUNCH, SEQUENCE, TRACE, FactTable
from tests.paths import CAPTURES

LAB = CAPTURES / "h200-amp"
pytestmark = pytest.mark.skipif(not LAB.exists(), reason="the captures are not here")


@lru_cache(maxsize=16)
def _views(*names: str) -> Views:
    return build_all(load(*(LAB / name for name in names)))


def _nsys(mode: str, *reports: str) -> Views:
    return _views(*(f"nsys/stats-{mode}/{mode}_{report}.csv" for report in reports))


def _value(table: FactTable, name: str) -> float:
    return float(table.values[name][0])


def _csv(mode: str, report: str) -> list[dict[str, str]]:
    with (LAB / f"nsys/stats-{mode}/{mode}_{report}.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def _ns(mode: str, *tokens: str) -> int:
    """Time of the kernels of the summary whose name holds one of the tokens."""
    rows = _csv(mode, "cuda_gpu_kern_sum")
    return sum(int(row["Total Time (ns)"]) for row in rows if any(token in row["Name"] for token in tokens))


def test_fp32_step_is_matrix_work_on_cuda_cores() -> None:
    table = _nsys("fp32", "cuda_gpu_kern_sum")[TRACE]
    assert _value(table, "kernel_time") == pytest.approx(194_275_177e-9, rel=1e-12)
    assert _value(table, "launches") == 2428
    assert _value(table, "fp32_gemm_time") / _value(table, "kernel_time") == pytest.approx(0.833, abs=5e-4)
    assert _value(table, "fp32_gemm_time") == pytest.approx(_ns("fp32", "sgemm", "f32f32_f32f32_f32") * 1e-9)
    assert _value(table, "half_matrix_time") == 0
    assert "master_cast_time" not in table.values


def test_amp_step_casts() -> None:
    table = _nsys("amp_fp16", "cuda_gpu_kern_sum")[TRACE]
    assert _value(table, "kernel_time") == pytest.approx(40_079_365e-9, rel=1e-12)
    assert 0.122 <= _value(table, "time_cast") / _value(table, "kernel_time") <= 0.130
    assert _value(table, "time_layout") / _value(table, "kernel_time") == pytest.approx(0.016, abs=1e-3)
    assert _value(table, "scaler_time") == pytest.approx(_ns("amp_fp16", "amp_") * 1e-9)
    assert _value(table, "fp32_gemm_time") == 0
    assert _value(table, "steps") == 4, "four updates of the loss scale"
    assert _value(table, "min_cc") == 9.0
    assert "gain_16bit" in table.assumptions


@pytest.mark.parametrize("mode", ["fp32", "amp_fp16"])
def test_optimizer_loop(mode: str) -> None:
    members = ("addcdiv", "addcmul", "lerp", "sqrt_kernel", "AUnaryFunctor", "BUnaryFunctor", "OnSelf_add")
    views = _nsys(mode, "cuda_gpu_kern_sum")
    table = views[TRACE]
    assert _value(table, "optimizer_loop_launches") == 1600
    assert _value(table, "optimizer_loop_kernels") == 7
    assert _value(table, "optimizer_loop_time") == pytest.approx(_ns(mode, *members) * 1e-9)
    assert _value(table, "optimizer_loop_time") == pytest.approx(9.85e-3, abs=0.01e-3)
    kernels = views[KERNEL]
    found = {
        str(name) for name, held in zip(kernels.values["name"], kernels.values["optimizer_loop"], strict=True) if held
    }
    assert len(found) == 7
    assert all(any(token in name for token in members) for name in found)


def test_master_weights_of_the_amp_step() -> None:
    assert _value(_nsys("amp_fp16", "cuda_gpu_kern_sum")[TRACE], "master_cast_time") == pytest.approx(
        0.75 * 1.834262e-3
    )


@pytest.mark.parametrize("mode", ["fp32", "amp_fp16"])
def test_trace_and_summaries_agree(mode: str) -> None:
    summary = _nsys(mode, "cuda_gpu_kern_sum", "cuda_api_sum")[TRACE]
    trace = _nsys(mode, "cuda_gpu_trace", "cuda_api_trace")[TRACE]
    same = [f"{stem}_{family}" for stem in ("time", "launches") for family in FAMILIES]
    same += ["kernel_time", "launches", "kernels", "mean_kernel", "optimizer_loop_time", "optimizer_loop_launches",
             "scaler_time", "tensor_time", "fp32_gemm_time", "half_matrix_time", "matrix_time", "fp16_kernels",
             "api_time", "launch_api_time", "launch_api_calls", "sync_api_time", "sync_api_calls", "malloc_api_time",
             "malloc_api_calls", "module_load_time"]  # fmt: skip
    for name in same:
        assert _value(summary, name) == pytest.approx(_value(trace, name), rel=1e-9), name
    assert _value(trace, "launch_api_calls") == _value(trace, "launches")


def test_the_upload_of_the_model_is_no_copy_of_the_loop() -> None:
    table = _nsys("amp_fp16", "cuda_gpu_trace")[TRACE]
    rows = [row for row in _csv("amp_fp16", "cuda_gpu_trace") if "memcpy" in row["Name"]]
    first = min(int(row["Start (ns)"]) for row in _csv("amp_fp16", "cuda_gpu_trace") if row["GrdX"])
    late = [row for row in rows if int(row["Start (ns)"]) >= first]
    assert _value(table, "copies") == len(late) == 15
    assert _value(table, "copy_time") == pytest.approx(sum(int(row["Duration (ns)"]) for row in late) * 1e-9)
    assert _value(table, "startup_copy_bytes") == pytest.approx(463.7e6, rel=1e-3)
    assert _value(table, "startup_copy_time") > 2000 * _value(table, "copy_time")
    assert _value(table, "pageable_copies") == sum("Pageable" in (r["SrcMemKd"], r["DstMemKd"]) for r in late)
    summary = _nsys("amp_fp16", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum")[TRACE]
    assert _value(summary, "copies_have_order") == 0
    assert _value(summary, "copies") == len(rows)


def test_three_ways_to_find_the_steps_agree() -> None:
    """NVTX projected by nsys, NVTX on the host with launch correlation, and GradScaler's kernel."""
    ways = (("nvtx_gpu_proj_trace",), ("nvtx_pushpop_trace", "cuda_api_trace"), ())
    found = [_nsys("amp_fp16", "cuda_gpu_trace", *reports) for reports in ways]
    for name in ("steps", "steady_steps", "steady_launches", "steady_kernel_time", "steady_window", "steady_busy"):
        values = [_value(views[TRACE], name) for views in found]
        assert values == pytest.approx([values[0]] * 3), name
    repeats = [views[SEQUENCE].values["repeats_per_step"] for views in found]
    np.testing.assert_array_equal(repeats[0], repeats[1])
    np.testing.assert_array_equal(repeats[0], repeats[2])


def test_warm_up_is_cut_off() -> None:
    table = _nsys("amp_fp16", "cuda_gpu_trace", "nvtx_gpu_proj_trace")[TRACE]
    assert _value(table, "idle") / _value(table, "window") > 0.9, "compilation and module loading in the first step"
    assert _value(table, "steady_idle") / _value(table, "steady_window") == pytest.approx(0.332, abs=1e-3)
    assert _value(table, "steady_steps") == 3
    assert _value(table, "busy") == pytest.approx(_value(table, "steady_busy") + 10.3e-3, abs=0.1e-3)


def test_every_weight_is_cast_once_per_step() -> None:
    """204 casts to FP16 in four steps: the repeats of the different casts of a step add up to a quarter."""
    table = _nsys("amp_fp16", "cuda_gpu_trace", "nvtx_gpu_proj_trace")[SEQUENCE]
    down = np.array(["float16_copy" in str(name) for name in table.values["name"]])
    _, first = np.unique(np.array([key.rpartition("#")[0] for key in table.keys])[down], return_index=True)
    assert table.values["repeats_per_step"][down][first].sum() == 204 / 4


def test_one_gradient_per_step_is_cast_up_and_down_again() -> None:
    """Mixed precision around GEMMs and weights is no ping-pong; the head's input gradient is."""
    table = _nsys("amp_fp16", "cuda_gpu_trace")[SEQUENCE]
    found = table.values["pingpong"] == 1
    assert found.sum() == 4
    assert set(table.values["grid"][found]) == {8192.0}
    assert (table.values["pingpong_matrix"] == 0).all()


def _raw(column: str) -> list[float]:
    with (LAB / "ncu/raw_base.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))[1:]
    return [float(row[column].replace(",", "")) for row in rows]


@pytest.fixture
def launches() -> FactTable:
    return _views("ncu/raw_base.csv")[LAUNCH]


def test_achieved_rate_is_what_ncu_prints(launches: FactTable) -> None:
    printed = np.array(_raw("sm__ops_path_tensor_src_fp16.sum.per_second"))
    matrix = printed > 0
    assert matrix.sum() == 6
    np.testing.assert_allclose(launches.values["tensor_flops_rate"][matrix], printed[matrix], rtol=1e-6)
    assert (launches.values["tensor_flops_rate"][~matrix] == 0).all(), "a few percent of pipe time are no matrix work"


def test_achieved_rate_agrees_with_the_busy_pipe(launches: FactTable) -> None:
    """Dense peak at the SM clock times the pipe's busy share is the rate: the table, clock and counters fit."""
    matrix = launches.values["tensor_flops_rate"] > 0
    cycles, seconds = np.array(_raw("sm__cycles_elapsed.max")), launches.values["duration"]
    peak = 132 * 4096 * (cycles / seconds)
    share = launches.values["tensor_flops_rate"] / peak
    np.testing.assert_allclose(share[matrix], launches.values["tensor_utilization"][matrix], rtol=0.02)


def test_excess_sectors_agree_with_ncus_own_difference(launches: FactTable) -> None:
    excess = np.array(_raw("derived__memory_l2_theoretical_sectors_global_excessive"))
    total = np.array(_raw("memory_l2_theoretical_sectors_global"))
    np.testing.assert_allclose(launches.values["excess_sectors"] * total, excess, atol=0.5)


def test_persistent_grids_have_no_tail(launches: FactTable) -> None:
    names = launches.values["name"]
    gemm = np.array(["nvjet" in str(name) for name in names])
    assert (launches.values["tail_loss"][gemm] == 0).all()
    assert (launches.values["grid_fill"][gemm] > 0.9).all()
    assert launches.values["tail_loss"][25] == pytest.approx(1 - 3.88 / 4)


def test_bandwidth_and_clock_are_measured(launches: FactTable) -> None:
    np.testing.assert_allclose(launches.values["dram_bandwidth"], 4.8e12, rtol=0.03)
    clock = launches.values["peak_fp32"] / (132 * 256)
    assert (clock <= 1.98e9 * (1 + 1e-12)).all()
    assert (clock > 1.7e9).all()


def test_ncu_of_another_problem_size_explains_little() -> None:
    """The ncu capture is of a smaller step: same kernel names, other grids, shorter launches."""
    views = _views("ncu/raw_base.csv", "nsys/stats-amp_fp16/amp_fp16_cuda_gpu_trace.csv")
    table = views[LAUNCH]
    assert table.time.sum() < 0.1 * _value(views[TRACE], "kernel_time")
    assert "time" in table.assumptions
    joined: Any = table.values["join"]
    assert set(joined) == {"launch", None}
