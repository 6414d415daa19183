"""Sums over a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.model.profile import Device, Profile
from nsight_insight.views.build import build, build_all
from nsight_insight.views.facts import FAMILIES, KERNEL, SCOPES, TRACE, FactTable, facts_of
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
ROWS: list[Row] = [
    {"name": "sgemm", "family": "gemm", "dtype_in": "fp32", "tensor_core": "no", "count": 2, "duration": 60_000.0},
    {"name": "hgemm", "family": "gemm", "dtype_in": "fp16", "tensor_core": "yes", "count": 1, "duration": 20_000.0},
    {"name": "conv", "family": "conv", "dtype_in": "fp32", "tensor_core": "unknown", "count": 1, "duration": 15_000.0},
    {"name": "down", "family": "cast", "dtype_in": "fp32", "dtype_out": "fp16", "count": 5, "duration": 5000.0},
    {"name": "mine", "family": "", "count": 1, "duration": 7.0},
    {"name": "odd", "family": "not a family", "count": 1, "duration": 3.0},
]


def _value(table: FactTable, name: str) -> float:
    return float(table.values[name][0])


def test_totals_by_family_precision_and_size() -> None:
    table = build(make_profile(ROWS), TRACE)
    assert _value(table, "kernel_time") == pytest.approx(100_010e-9)
    assert _value(table, "launches") == 11
    assert _value(table, "kernels") == 6
    assert _value(table, "mean_kernel") == pytest.approx(100_010e-9 / 11)
    assert _value(table, "time_gemm") == pytest.approx(80e-6)
    assert _value(table, "launches_cast") == 5
    assert _value(table, "time_unknown") == pytest.approx(10e-9)
    assert _value(table, "matrix_time") == pytest.approx(95e-6)
    assert _value(table, "fp32_gemm_time") == pytest.approx(60e-6), "an unknown path is not CUDA cores"
    assert _value(table, "half_matrix_time") == pytest.approx(20e-6)
    assert _value(table, "tensor_time") == pytest.approx(20e-6)
    assert _value(table, "fp16_kernels") == 1
    assert _value(table, "half_cuda_core_time") == 0, "hgemm is on Tensor Cores here"
    assert _value(table, "tiny_launches") == 7
    assert _value(table, "tiny_time") == pytest.approx(5010e-9)
    assert table.lead[0] == 0
    assert table.evidence_rows["time_cast"][0] == 3


def test_families_add_up_to_kernel_time() -> None:
    table = build(make_profile(ROWS), TRACE)
    assert sum(_value(table, f"time_{name}") for name in FAMILIES) == pytest.approx(_value(table, "kernel_time"))
    assert sum(_value(table, f"launches_{name}") for name in FAMILIES) == _value(table, "launches")


def test_each_device_has_its_own_sums() -> None:
    rows = [{**row, "device": place % 2} for place, row in enumerate(ROWS)]
    table = build(make_profile(rows), TRACE)
    assert list(table.devices) == [0, 1]
    assert table.values["kernel_time"].sum() == pytest.approx(100_010e-9)
    assert _value(table, "kernel_time") == pytest.approx(75_007e-9)


def test_copies_without_a_device_are_nobodys_on_two_devices() -> None:
    rows = [{**ROWS[0], "device": device, "start": 10.0} for device in (0, 1)]
    copy = {"kind": "memcpy", "name": "[CUDA memcpy Host-to-Device]", "duration": 9.0, "start": 90.0}
    table = build(make_profile([*rows, copy], report="cuda_gpu_trace"), TRACE)
    assert "copy_time" not in table.values
    assert "busy" not in table.values, "an unattributed copy may have kept either device busy"


def test_busy_is_a_union_and_the_upload_is_outside() -> None:
    copy = {"kind": "memcpy", "name": "[CUDA memcpy Host-to-Device]", "duration": 50.0}
    rows = [
        {**ROWS[0], "count": 1, "start": 1000.0, "duration": 100.0, "stream": 1},
        {**ROWS[1], "count": 1, "start": 1050.0, "duration": 100.0, "stream": 2},
        {**copy, "start": 10.0},
        {**copy, "start": 1140.0},
        {"kind": "memset", "name": "[CUDA memset]", "start": 1290.0, "duration": 10.0},
    ]
    table = build(make_profile(rows, report="cuda_gpu_trace"), TRACE)
    assert _value(table, "window") == pytest.approx(300e-9)
    assert _value(table, "busy") == pytest.approx(200e-9)
    assert _value(table, "idle") == pytest.approx(100e-9)


def test_copies_without_times_leave_busy_unknown() -> None:
    rows = [{**ROWS[0], "start": 1.0}, {"kind": "memcpy", "name": "[CUDA memcpy]", "duration": 5.0}]
    assert "busy" not in build(make_profile(rows), TRACE).values


def test_queue_time_is_a_mean_over_launches_of_any_report() -> None:
    rows = [
        *ROWS,
        {"name": "sgemm", "count": 3, "queue_duration": 1000.0, "primary": False},
        {"name": "hgemm", "count": 1, "queue_duration": 5000.0, "primary": False},
    ]
    table = build(make_profile(rows), TRACE)
    assert _value(table, "queue_time") == pytest.approx(2e-6)
    assert _value(table, "kernel_time") == pytest.approx(100_010e-9)


def test_copies_of_another_device_are_not_ours() -> None:
    copy = {"kind": "memcpy", "name": "[CUDA memcpy Host-to-Device]", "duration": 9.0, "start": 90.0}
    rows = [{**ROWS[0], "device": 0, "start": 1.0}, {**copy, "device": 0}, {**copy, "device": 1, "duration": 70.0}]
    table = build(make_profile(rows, report="cuda_gpu_trace"), TRACE)
    assert _value(table, "copy_time") == pytest.approx(9e-9)


def test_graphs_traced_as_a_whole_are_time_on_the_gpu() -> None:
    graph = {"kind": "graph", "name": "CUDA Graph 5", "count": 3, "duration": 900.0}
    table = build(make_profile([*ROWS, graph]), TRACE)
    assert _value(table, "kernel_time") == pytest.approx(100_910e-9)
    assert _value(table, "time_graph") == pytest.approx(900e-9)
    assert _value(table, "launches_graph") == 3


def test_unknown_counts_are_not_minus_one() -> None:
    migration = {"kind": "memcpy", "name": "[CUDA memcpy Unified Host-to-Device]", "count": -1, "bytes": 8.0}
    table = build(make_profile([*ROWS, migration], report="um_sum"), TRACE)
    assert np.isnan(_value(table, "copies"))
    assert _value(table, "copy_bytes") == 8


def test_ncu_launches_add_no_time_to_nsys() -> None:
    profile = make_profile(ROWS, ncu=[{"name": "sgemm", "duration": 9e9}])
    assert _value(build(profile, TRACE), "kernel_time") == pytest.approx(100_010e-9)


def test_missing_durations_are_unknown_not_zero() -> None:
    table = build(make_profile(ncu=[{"name": "sgemm", "sm_throughput": 0.5}]), TRACE)
    assert np.isnan(_value(table, "kernel_time"))
    assert list(table.time) == [0.0]
    kernel = build(make_profile(ncu=[{"name": "sgemm", "sm_throughput": 0.5}]), KERNEL)
    assert np.isnan(kernel.values["duration"][0])
    assert kernel.values["sm_throughput"][0] == 0.5
    assert list(kernel.time) == [0.0]


def _rich_profile() -> Profile:
    trace = [{**row, "count": 1, "start": 100_000.0 * place, "nvtx": f"step {place}"} for place, row in enumerate(ROWS)]
    others = [
        {"kind": "memcpy", "name": "[CUDA memcpy Host-to-Device]", "start": 9e5, "duration": 9.0, "bytes": 5.0,
         "direction": "HtoD", "src_kind": "pageable", "dst_kind": "device"},
        {"kind": "api", "name": "cudaLaunchKernel", "start": 5.0, "duration": 5.0},
    ]  # fmt: skip
    ncu = [{"name": "sgemm", "duration": 5.0, "sm_throughput": 0.5, "waves": 1.5, "queue_duration": 4.0}]
    return make_profile([*trace, *others], ncu=ncu, devices=[Device(0, "NVIDIA H200")], report="cuda_gpu_trace")


@pytest.mark.parametrize("profile", [_rich_profile(), make_profile(ROWS), make_profile(ncu=ROWS)])
@pytest.mark.parametrize("scope", SCOPES)
def test_every_value_is_declared_and_every_table_is_consistent(profile: Profile, scope: str) -> None:
    table, facts = build(profile, scope), facts_of(scope)
    assert set(table.values) <= set(facts)
    assert set(table.combined) | set(table.evidence_rows) <= set(facts)
    sizes = {len(column) for column in (*table.values.values(), *table.evidence_rows.values())}
    assert sizes <= {len(table)}
    assert len(table.rows) == len(table.lead) == len(table.devices) == len(table.launches) == len(table)
    assert not np.isnan(table.time).any()
    assert len(set(table.keys)) == len(table)
    for name, column in table.values.items():
        assert (column.dtype == object) == (facts[name].kind == "text"), name


def test_scopes_are_built_once_and_lazily() -> None:
    views = build_all(make_profile(ROWS))
    assert set(views) == set(SCOPES)
    assert views[TRACE] is views[TRACE]
    with pytest.raises(KeyError):
        views["no such scope"]
    empty = make_profile([{"kind": "api", "name": "cudaFree", "duration": 1.0}])
    assert [len(build(empty, scope)) for scope in SCOPES] == [0, 0, 0, 0]
