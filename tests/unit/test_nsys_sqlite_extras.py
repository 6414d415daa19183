"""MPI, managed memory and GPU metrics in exports that are old, trimmed, too large or odd."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nsight_insight.readers import _sqlite_samples, _sqlite_sums
from tests.unit.make_nsys import K, M, R, Row, call, copy, gpu, kernel, of_process, of_thread, read_of, table_of, texts

P2P, WAIT = "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS"
GPU_FAULTS, CPU_FAULTS = "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "CUDA_UM_CPU_PAGE_FAULT_EVENTS"
METRICS, METRIC_NAMES, NUMBERS = "GPU_METRICS", "TARGET_INFO_GPU_METRICS", "TARGET_INFO_CUDA_DEVICE"
TYPE = 281479271677952
"""A type as nsys 2025.3 writes it; its low byte is the GPU."""
BASE: dict[str, list[Row]] = {K: [kernel(5_000, 9_000)], R: [call(1_000, 2_500)]}


def message(start: int, end: int, name: int = 4, **more: object) -> Row:
    return {"start": start, "end": end, "globalTid": of_thread(100, 100), "textId": name, **more}


def sample(time: int, metric: int, value: int, kind: int = TYPE) -> Row:
    return {"rawTimestamp": time, "timestamp": time, "typeId": kind, "metricId": metric, "value": value}


def names(*labels: str, kind: int = TYPE) -> list[Row]:
    return [
        {"typeId": kind, "sourceId": kind, "typeName": "", "metricId": number, "metricName": label}
        for number, label in enumerate(labels)
    ]


# --- MPI -------------------------------------------------------------------------------------------------------------


def test_calls_with_sizes_and_waits_without(tmp_path: Path) -> None:
    result = read_of(tmp_path, {**BASE, P2P: [message(10, 30, size=64)], WAIT: [message(40, 90, requestHandle=7)]})
    sends, waits = table_of(result, P2P), table_of(result, WAIT)
    assert sends.source.report == waits.source.report == "mpi_event_trace"
    assert sends.columns["kind"].tolist() == ["mpi"]
    assert [sends.columns[name][0] for name in ("name", "start", "duration", "bytes", "process", "thread")] == [
        "scale", 10, 20, 64, 100, 100,
    ]  # fmt: skip
    assert "bytes" not in waits.columns
    place = sends.source.locate(0, "duration", 1)
    assert (place.table, place.line, place.field) == (P2P, 1, "end - start")


def test_a_call_without_a_text_keeps_its_time(tmp_path: Path) -> None:
    (name,) = table_of(read_of(tmp_path, {**BASE, P2P: [message(10, 30, name=99)]}), P2P).columns["name"]
    assert name == "[MPI call without a name]"


def test_too_many_calls_are_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite_sums, "MAX_ROWS", 3)
    result = read_of(tmp_path, {**BASE, P2P: [message(10 * n, 10 * n + 4) for n in range(5)]})
    table = table_of(result, P2P)
    assert table.source.report == "mpi_event_sum"
    assert [table.columns[name].tolist() for name in ("count", "duration", "name")] == [[5], [20], ["scale"]]
    assert any("summed up" in text for text in texts(result, "info"))


# --- managed memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (0, ""),
        (1, "user prefetch"),
        (2, "page fault"),
        (3, "speculative prefetch"),
        (4, "eviction"),
        (77, ""),
        (None, ""),
    ],
)
def test_why_pages_moved(tmp_path: Path, code: int | None, cause: str) -> None:
    result = read_of(tmp_path, {**BASE, M: [copy(100, 200, copyKind=11, migrationCause=code)]})
    assert table_of(result, M).columns["cause"].tolist() == [cause]


def test_other_copies_have_no_cause(tmp_path: Path) -> None:
    result = read_of(tmp_path, {**BASE, M: [copy(100, 200, migrationCause=2)]})
    assert table_of(result, M).columns["cause"].tolist() == [""]


def test_an_old_export_does_not_say_why(tmp_path: Path) -> None:
    assert "cause" not in table_of(read_of(tmp_path, {**BASE, M: [copy(100, 200, copyKind=11)]}), M).columns


def test_faults_of_the_gpu_come_in_groups(tmp_path: Path) -> None:
    row = {"start": 10, "end": 70, "globalPid": of_process(100), "deviceId": 0, "address": 1, "numberOfPageFaults": 9,
           "faultAccessType": 2}  # fmt: skip
    table = table_of(read_of(tmp_path, {**BASE, GPU_FAULTS: [row, {**row, "numberOfPageFaults": None}]}), GPU_FAULTS)
    assert table.columns["count"].tolist() == [9, 1]
    assert table.columns["name"].tolist() == ["[GPU page fault write]"] * 2
    assert table.columns["device"].tolist() == [0, 0]
    assert table.columns["duration"].tolist() == [60, 60]


def test_a_fault_of_the_host_is_a_moment(tmp_path: Path) -> None:
    rows = [{"start": 10, "globalPid": of_process(100), "address": 1}]
    table = table_of(read_of(tmp_path, {**BASE, CPU_FAULTS: rows}), CPU_FAULTS)
    assert [table.columns[name].tolist() for name in ("kind", "name", "start", "duration", "process")] == [
        ["fault"], ["[CPU page fault]"], [10], [0], [100],
    ]  # fmt: skip


# --- GPU metrics -----------------------------------------------------------------------------------------------------


def test_samples_of_two_gpus_go_to_the_devices_cuda_numbers(tmp_path: Path) -> None:
    """CUDA_VISIBLE_DEVICES may turn the order round: GPU 1 is the program's device 0."""
    numbers = [{"gpuId": 1, "cudaId": 0, "pid": 100}, {"gpuId": 0, "cudaId": 1, "pid": 100}]
    tables = {
        **BASE, NUMBERS: numbers, "TARGET_INFO_GPU": [gpu(0), gpu(1)],
        METRIC_NAMES: [*names("SMs Active [Throughput %]"), *names("SMs Active [Throughput %]", kind=TYPE + 1)],
        METRICS: [sample(10, 0, 5), sample(10, 0, 80, TYPE + 1), sample(20, 0, 6), sample(20, 0, 90, TYPE + 1)],
    }  # fmt: skip
    found = {samples.device: samples for samples in read_of(tmp_path, tables).tables[0].samples}
    assert found[0].values["sm_active"].tolist() == pytest.approx([0.8, 0.9])
    assert found[1].values["sm_active"].tolist() == pytest.approx([0.05, 0.06])


def test_a_sample_that_lacks_a_metric_is_a_gap(tmp_path: Path) -> None:
    tables = {
        **BASE, METRIC_NAMES: names("SMs Active [Throughput %]", "GPC Clock Frequency [MHz]", "Pixel Warps in Flight"),
        METRICS: [sample(10, 0, 50), sample(10, 1, 1_980_000_000), sample(20, 0, 60), sample(20, 2, 7)],
    }  # fmt: skip
    (samples,) = read_of(tmp_path, tables).tables[0].samples
    assert samples.names == {"sm_active": "SMs Active [Throughput %]", "gpc_clock": "GPC Clock Frequency [MHz]"}
    assert samples.values["gpc_clock"][0] == 1.98e9
    assert np.isnan(samples.values["gpc_clock"][1])
    assert samples.frequency == 1e8


def test_metrics_without_names_are_not_guessed(tmp_path: Path) -> None:
    assert read_of(tmp_path, {**BASE, METRICS: [sample(10, 0, 50)]}).tables[0].samples == []


def test_too_many_samples_are_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite_samples, "MAX_SAMPLES", 1)
    tables = {**BASE, METRIC_NAMES: names("SM Issue"), METRICS: [sample(10, 0, 50), sample(20, 0, 50)]}
    result = read_of(tmp_path, tables)
    assert result.tables[0].samples == []
    assert any("GPU metrics left out" in text for text in texts(result, "data-loss"))
