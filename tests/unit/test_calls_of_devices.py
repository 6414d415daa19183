"""API calls of a process that uses several GPUs: those that started work there, and those nobody can place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import nsight_insight as ni
from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE, FactTable
from tests.unit.make_nsys import GPU, K, M, R, W, call, copy, export, gpu, kernel

NAMES = [{"id": i, "value": v} for i, v in enumerate(
    ("gemm", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaMalloc_v3020", "cudaStreamSynchronize_v3020"), 1
)]  # fmt: skip
LAUNCH, COPY, MALLOC, SYNC = 2, 3, 4, 5


def wait(start: int, end: int, correlation: int, device: int) -> dict[str, object]:
    row = {name: cell for name, cell in copy(start, end, correlation, deviceId=device).items() if "Kind" not in name}
    return {**row, "syncType": 3}


def facts(folder: Path, *calls: dict[str, object], waits: bool = True) -> FactTable:
    tables = {
        "StringIds": NAMES,
        GPU: [gpu(), gpu(id=1, cuDevice=1)],
        K: [kernel(1_000, 2_000, 1), kernel(1_500, 2_500, 2, deviceId=1), kernel(3_000, 4_000, 3, deviceId=1)],
        M: [copy(5_000, 5_500, 4)],
        R: [
            call(100, 110, 1, LAUNCH), call(200, 220, 2, LAUNCH), call(300, 330, 3, LAUNCH), call(400, 440, 4, COPY),
            call(6_000, 6_500, 5, SYNC), *calls,
        ],
        W: [wait(6_000, 6_500, 5, 1)],
    }  # fmt: skip
    if not waits:
        del tables[W]
    return build(ni.load(export(folder / "both.sqlite", tables)), TRACE)


def test_calls_are_of_the_device_of_the_work_they_started(tmp_path: Path) -> None:
    table = facts(tmp_path)
    assert table.values["launch_api_calls"].tolist() == [1.0, 2.0]
    np.testing.assert_allclose(table.values["launch_api_time"], [10e-9, 50e-9])
    np.testing.assert_allclose(table.values["sync_api_time"], [0.0, 500e-9])
    np.testing.assert_allclose(table.values["api_time"], [50e-9, 550e-9])


def test_an_allocation_nobody_can_place_leaves_only_allocations_unknown(tmp_path: Path) -> None:
    values = facts(tmp_path, call(500, 900, 6, MALLOC)).values
    assert values["launch_api_calls"].tolist() == [1.0, 2.0]
    unknown = ("malloc_api_time", "malloc_api_calls", "free_api_calls", "api_time")
    assert all(name not in values or np.isnan(values[name]).all() for name in unknown)


def test_a_wait_without_its_record_leaves_waits_unknown(tmp_path: Path) -> None:
    values = facts(tmp_path, waits=False).values
    assert "sync_api_time" not in values or np.isnan(values["sync_api_time"]).all()
    assert values["launch_api_calls"].tolist() == [1.0, 2.0]


def test_one_id_for_work_of_two_devices_places_nothing(tmp_path: Path) -> None:
    """A call that started work on both GPUs, as the launch of a graph over several devices does."""
    tables = {
        "StringIds": NAMES,
        GPU: [gpu(), gpu(id=1, cuDevice=1)],
        K: [kernel(1_000, 2_000, 1), kernel(1_500, 2_500, 1, deviceId=1)],
        R: [call(100, 110, 1, LAUNCH)],
    }
    frame = ni.load(export(tmp_path / "both.sqlite", tables)).activities
    assert frame.loc[frame["kind"] == "api", "device"].tolist() == [-1]


def test_ids_of_other_processes_place_nothing(tmp_path: Path) -> None:
    tables = {
        "StringIds": NAMES,
        GPU: [gpu(), gpu(id=1, cuDevice=1)],
        K: [
            kernel(1_000, 2_000, 1, process=7), kernel(3_000, 4_000, 2, process=7, deviceId=1),
            kernel(1_000, 2_000, 2, process=8, deviceId=1), kernel(1_000, 2_000, 3, process=8),
        ],
        R: [call(100, 110, 1, LAUNCH, process=7), call(100, 110, 1, LAUNCH, process=8),
            call(120, 130, 2, LAUNCH, process=8)],
    }  # fmt: skip
    frame = ni.load(export(tmp_path / "both.sqlite", tables)).activities
    calls = frame[frame["kind"] == "api"].sort_values(["process", "correlation"])
    assert calls["device"].tolist() == [0, -1, 1]
