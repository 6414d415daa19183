"""What API calls are for, in every spelling that nsys and nvprof print."""

from __future__ import annotations

import numpy as np
import pytest

from nsight_insight.views.api_calls import purpose
from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE
from tests.unit.make_profile import make_profile

KERNEL = {"name": "saxpy", "count": 2, "duration": 5000.0}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cudaLaunchKernel", "launch"),
        ("cudaLaunchKernel_v7000", "launch"),
        ("cudaLaunchKernel_ptsz", "launch"),
        ("cudaLaunchKernelExC_v11060", "launch"),
        ("cuLaunchKernelEx", "launch"),
        ("cudaLaunchCooperativeKernel", "launch"),
        ("cudaLaunch", "launch"),
        ("cudaGraphLaunch_v10000", "launch"),
        ("cuGraphLaunch_ptsz", "launch"),
        ("cudaLaunchHostFunc_v10000", ""),
        ("cudaGraphInstantiate", ""),
        ("cudaDeviceSynchronize_v3020", "sync"),
        ("cudaStreamSynchronize_ptsz", "sync"),
        ("cudaEventSynchronize", "sync"),
        ("cuCtxSynchronize", "sync"),
        ("cudaMemcpy_v3020", "sync"),
        ("cudaMemcpy2D", "sync"),
        ("cuMemcpyDtoH_v2", "sync"),
        ("cudaMemcpyAsync_v3020", ""),
        ("cuMemcpyHtoDAsync_v2", ""),
        ("cudaStreamWaitEvent", ""),
        ("cudaEventQuery", ""),
        ("cudaMalloc_v3020", "malloc"),
        ("cudaMallocAsync_v11020", "malloc"),
        ("cudaFree", "malloc"),
        ("cudaFreeHost", "malloc"),
        ("cudaHostAlloc", "malloc"),
        ("cuMemAlloc_v2", "malloc"),
        ("cuMemCreate", "malloc"),
        ("cuMemSetAccess", "malloc"),
        ("cuMemsetD8Async", ""),
        ("cudaMemGetInfo", ""),
        ("cuModuleLoadData", "load"),
        ("cuLibraryLoadData", "load"),
        ("cuModuleGetFunction", "load"),
        ("cuLinkComplete", "load"),
    ],
)
def test_purpose(name: str, expected: str) -> None:
    assert purpose(name) == expected


def test_facts_sum_calls_and_point_at_the_longest_row() -> None:
    profile = make_profile(
        [
            KERNEL,
            {"kind": "api", "name": "cudaLaunchKernel_v7000", "count": 3, "duration": 30_000.0},
            {"kind": "api", "name": "cudaLaunchKernelExC_v11060", "count": 1, "duration": 90_000.0},
            {"kind": "api", "name": "cudaDeviceSynchronize_v3020", "count": 1, "duration": 1_000.0},
            {"kind": "api", "name": "cudaFree", "count": 1, "duration": 7.0, "primary": False},
        ]
    )
    table = build(profile, TRACE)
    values = {name: float(column[0]) for name, column in table.values.items() if column.dtype == float}
    assert values["api_time"] == pytest.approx(121e-6)
    assert values["launch_api_time"] == pytest.approx(120e-6)
    assert values["launch_api_calls"] == 4
    assert values["sync_api_calls"] == 1
    assert values["malloc_api_calls"] == 0
    assert values["malloc_api_time"] == 0
    assert table.evidence_rows["launch_api_time"][0] == 2


def test_without_api_rows_nothing_is_known() -> None:
    table = build(make_profile([KERNEL]), TRACE)
    assert not {"api_time", "launch_api_calls", "sync_api_time"} & table.values.keys()


def test_several_devices_leave_api_time_unattributed() -> None:
    rows = [{**KERNEL, "device": device} for device in (0, 1)]
    profile = make_profile([*rows, {"kind": "api", "name": "cudaLaunchKernel", "duration": 5.0}])
    table = build(profile, TRACE)
    assert len(table) == 2
    assert "api_time" not in table.values


def test_steady_calls_leave_the_warm_up_out() -> None:
    kernels = [
        {"name": "saxpy", "start": 1000.0 * step, "duration": 500.0, "nvtx": f"step {step}"} for step in (1, 2, 3)
    ]
    calls = [
        {"kind": "api", "name": "cudaMalloc", "start": start, "duration": 10.0} for start in (900.0, 1100.0, 2100.0)
    ]
    table = build(make_profile([*kernels, *calls], report="cuda_gpu_trace"), TRACE)
    assert table.values["malloc_api_calls"][0] == 3
    assert table.values["steady_malloc_api_calls"][0] == 1
    assert table.values["steady_malloc_api_time"][0] == pytest.approx(10e-9)
    assert np.isclose(table.values["steady_steps"][0], 2)
