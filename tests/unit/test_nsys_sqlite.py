"""What the reader makes of exports of any age, trimmed, damaged, or of hostile content."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.errors import EmptyInput, InputError, MissingInput, UnrecognizedInput
from nsight_insight.model.issues import Level, Location
from nsight_insight.readers import _sqlite_database, _sqlite_sums, nsys_sqlite
from nsight_insight.readers.text import from_bytes, open_path
from nsight_insight.reporters import json as json_reporter
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.views.activity import Activities
from nsight_insight.views.steps import find_steps
from tests.paths import FIXTURES
from tests.unit.make_nsys import (
    GPU,
    NAMES,
    NVTX,
    OSRT,
    G,
    K,
    M,
    R,
    Row,
    S,
    W,
    call,
    copy,
    export,
    gpu,
    kernel,
    nvtx,
    of_process,
    of_thread,
    read,
    read_of,
    strings,
    table_of,
    texts,
)

FIXTURE = FIXTURES / "nsys-sqlite/2025.3-h200-amp/amp_fp16.sqlite"


# --- one row of everything ------------------------------------------------------------------------------------------


def test_a_kernel_with_all_it_has(tmp_path: Path) -> None:
    table = table_of(read_of(tmp_path, {K: [kernel(5_000, 9_000, 3)], R: [call(1_000, 2_500, 3)]}), K)
    row = {name: values[0] for name, values in table.columns.items()}
    assert (table.source.report, table.source.reader, table.source.version) == (
        "cuda_gpu_trace",
        "nsys_sqlite",
        "2025.3.2",
    )
    assert row == {
        "kind": "kernel", "name": "void gemm(float *)", "count": 1, "line": 1, "start": 5_000.0, "duration": 4_000.0,
        "process": 100, "device": 0, "context": 1, "stream": 7, "correlation": 3, "registers": 32.0,
        "grid_x": 4.0, "grid_y": 2.0, "grid_z": 1.0, "block_x": 128.0, "block_y": 1.0, "block_z": 1.0,
        "shared_static": 16.0, "shared_dynamic": 24.0, "api_duration": 1_500.0, "queue_duration": 2_500.0,
    }  # fmt: skip
    assert [(d.index, d.name, d.cc, d.sm_count, d.sm_clock_hz, d.memory_bandwidth) for d in table.devices] == [
        (0, "NVIDIA H200", 9.0, 132, 1.98e9, 4.8e12)
    ]


def test_every_value_names_table_rowid_and_column(tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", {K: [kernel(1, 2), kernel(5, 9, 2)]})
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE {K} SET rowid = 70 WHERE rowid = 2")  # noqa: S608
    connection.commit()
    connection.close()
    profile = api.load(path)
    assert profile.locate(1, "duration") == Location(str(path), 70, None, "end - start", K)
    assert profile.locate(1, "registers") == Location(str(path), 70, None, "registersPerThread", K)
    assert profile.locate(1, "name") == Location(str(path), 70, None, "demangledName", K)
    assert str(profile.locate(0, "family")) == f"{path}:{K}:1"
    assert profile.devices[0].location == Location(str(path), 1, None, "name", GPU)


@pytest.mark.parametrize(
    ("codes", "name", "direction", "places"),
    [
        ((1, 0, 2), "[CUDA memcpy Host-to-Device]", "HtoD", ("pageable", "device")),
        ((2, 5, 1), "[CUDA memcpy Device-to-Host]", "DtoH", ("device", "pinned")),
        ((8, 2, 2), "[CUDA memcpy Device-to-Device]", "DtoD", ("device", "device")),
        ((10, 2, 2), "[CUDA memcpy Peer-to-Peer]", "PtoP", ("device", "device")),
        ((11, 4, 6), "[CUDA memcpy Unified Host-to-Device]", "unified", ("managed", "managed")),
        ((3, 1, 3), "[CUDA memcpy Host-to-Array]", "HtoD", ("pinned", "array")),
        ((99, 7, None), "[CUDA memcpy 99]", "", ("", "")),
    ],
)
def test_copies_without_the_enum_tables(
    tmp_path: Path, codes: tuple[int, int, int], name: str, direction: str, places: tuple[str, str]
) -> None:
    kind, source, target = codes
    columns = table_of(read_of(tmp_path, {M: [copy(1, 3, copyKind=kind, srcKind=source, dstKind=target)]}), M).columns
    found = (columns["name"][0], columns["direction"][0], (columns["src_kind"][0], columns["dst_kind"][0]))
    assert found == (name, direction, places)
    assert columns["bytes"][0] == 1000


def test_labels_of_the_export_win(tmp_path: Path) -> None:
    labels = [{"id": 1, "name": "x", "label": "HtoD"}]
    table = table_of(read_of(tmp_path, {M: [copy(1, 3)], "ENUM_CUDA_MEMCPY_OPER": labels}), M)
    assert (table.columns["name"][0], table.columns["direction"][0]) == ("[CUDA memcpy HtoD]", "HtoD")


def test_sets_waits_and_os_calls(tmp_path: Path) -> None:
    place = {"deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 1, "globalPid": of_process(100)}
    os_calls = [
        {"start": 0, "end": end, "eventClass": kind, "globalTid": 1, "nameId": 4}
        for end, kind in ((10, 27), (30, 27), (99, 31))
    ]
    result = read_of(
        tmp_path,
        {
            S: [{"start": 1, "end": 5, "bytes": 64, "memKind": 2, **place}],
            W: [{"start": 5, "end": 8, "syncType": 3, **place}],
            OSRT: os_calls,
        },
    )
    sets, waits, os_runtime = (table_of(result, name).columns for name in (S, W, OSRT))
    assert (sets["kind"][0], sets["name"][0], sets["bytes"][0], sets["src_kind"][0]) == (
        "memset",
        "[CUDA memset]",
        64,
        "device",
    )
    assert (waits["kind"][0], waits["name"][0], waits["duration"][0]) == ("sync", "[CUDA Stream sync]", 3)
    assert {name: values.tolist() for name, values in os_runtime.items()} == {
        "kind": ["osrt"], "name": ["scale"], "line": [1], "count": [2], "duration": [40], "min": [10], "max": [30],
        "avg": [20],
    }  # fmt: skip


# --- the call behind each kernel ------------------------------------------------------------------------------------


def test_processes_with_the_same_ids_do_not_multiply_rows(tmp_path: Path) -> None:
    """Two ranks number their launches alike; a join by correlation id alone would give four rows."""
    result = read_of(
        tmp_path,
        {
            K: [kernel(100, 110, 5, process=100), kernel(200, 210, 5, process=200, deviceId=1)],
            R: [call(10, 11, 5, process=100), call(20, 24, 5, process=200, thread=201)],
            GPU: [gpu(0), gpu(1)],
        },
    )
    assert table_of(result, K).columns["api_duration"].tolist() == [1.0, 4.0]
    assert table_of(result, R).columns["device"].tolist() == [0, 1]


def test_of_a_runtime_and_a_driver_call_with_one_id_the_outer_counts(tmp_path: Path) -> None:
    result = read_of(tmp_path, {K: [kernel(100, 110, 5)], R: [call(21, 29, 5), call(20, 30, 5), call(25, 26, 5)]})
    assert table_of(result, K).columns["api_duration"].tolist() == [10.0]
    assert len(table_of(result, R)) == 3


def test_times_that_are_not_known_are_not_zero(tmp_path: Path) -> None:
    """A kernel that starts before its call returns has no queue time, a graph's nodes have one call together."""
    kernels = [kernel(15, 40, 1), kernel(50, 60, 2, graphNodeId=9), kernel(60, 70, 3), kernel(80, 90, None)]  # type: ignore[arg-type]
    calls = [call(10, 20, 1), call(20, 22, 2), call(1, 2, None)]  # type: ignore[arg-type]
    columns = table_of(read_of(tmp_path, {K: kernels, R: calls}), K).columns
    np.testing.assert_array_equal(columns["api_duration"], [10.0, np.nan, np.nan, np.nan])
    assert np.isnan(columns["queue_duration"]).all()
    assert columns["correlation"].tolist() == [1, 2, 3, -1]


def test_calls_of_a_process_with_two_devices_belong_to_that_of_their_work(tmp_path: Path) -> None:
    kernels = [kernel(1, 2, 1), kernel(1, 2, 2, deviceId=1), kernel(1, 2, 1, process=7, deviceId=1)]
    calls = [call(0, 1, 1), call(0, 1, 3), call(0, 1, 1, process=7), call(0, 1, 1, process=8)]
    result = read_of(tmp_path, {K: kernels, R: calls, GPU: [gpu(0), gpu(1)]})
    assert table_of(result, R).columns["device"].tolist() == [0, -1, 1, -1]


# --- NVTX -----------------------------------------------------------------------------------------------------------


def test_the_path_of_a_kernel_is_what_was_open_on_the_launching_thread(tmp_path: Path) -> None:
    ranges = [
        nvtx(0, None, "epoch"),
        nvtx(1, 100, "step 0"),
        nvtx(10, 50, textId=4),
        nvtx(20, 30, "in/ner"),
        nvtx(0, 1_000, "other thread", thread=101),
        nvtx(0, 1_000, "other process", process=200),
        nvtx(0, 1_000, "not a stack", eventType=60),
        nvtx(0, 1_000, "mark", eventType=34),
        nvtx(70, 80, ""),
    ]
    starts = (0, 5, 20, 30, 31, 51, 75, 100, 101, 5_000)
    calls = [call(start, start + 1, number) for number, start in enumerate(starts)]
    calls.append(call(25, 26, 90, thread=101))
    kernels = [kernel(10_000 + row, 10_001 + row, id_) for row, id_ in enumerate([*range(len(starts)), 90, 91])]
    result = read_of(tmp_path, {K: kernels, R: calls, NVTX: ranges})
    assert table_of(result, K).columns["nvtx"].tolist() == [
        "epoch", "epoch/step 0", "epoch/step 0/scale/in/ner", "epoch/step 0/scale/in/ner", "epoch/step 0/scale",
        "epoch/step 0", "epoch/step 0", "epoch/step 0", "epoch", "epoch", "other thread", "",
    ]  # fmt: skip


def test_ranges_are_named_as_nsys_names_them(tmp_path: Path) -> None:
    ranges = [
        nvtx(1, None, "cuBLAS", eventType=75, domainId=3),
        nvtx(0, None, "first", eventType=75, domainId=3, process=200),
        nvtx(2, None, "second", eventType=75, domainId=3, process=200),
        nvtx(5, 9, "text", textId=5),
        nvtx(6, 8, "gemm", domainId=3),
        nvtx(6, 8, "gemm", domainId=3, process=200),
        nvtx(7, None, None),
        nvtx(5, 90, "batch", eventType=60),
    ]
    result = read_of(tmp_path, {K: [kernel(1, 2)], NVTX: ranges})
    pushed, started = (table for table in result.tables if table.source.table == NVTX)
    assert pushed.source.report == "nvtx_pushpop_trace"
    assert pushed.columns["name"].tolist() == [":step 0", "cuBLAS:gemm", "first:gemm", ":"]
    assert pushed.columns["duration"].tolist() == [4, 2, 2, 83]
    assert (started.source.report, started.columns["name"].tolist()) == ("nvtx_startend_trace", [":batch"])
    assert set(pushed.columns["_style"]) == {"PushPop"}
    assert pushed.columns["line"].tolist() == [4, 5, 6, 7]


def test_ranges_of_exports_without_registered_strings(tmp_path: Path) -> None:
    rows = [{key: value for key, value in nvtx(5, 9, "x").items() if key not in ("textId", "domainId")}]
    assert table_of(read_of(tmp_path, {K: [kernel(1, 2)], NVTX: rows}), NVTX).columns["name"].tolist() == [":x"]


def test_steps_hold_the_kernels_of_every_thread_of_the_process(tmp_path: Path) -> None:
    """Autograd launches from a thread of its own; another process may run its steps at other times."""
    tables: dict[str, list[Row]] = {K: [], R: [], NVTX: []}
    for process in (100, 200):
        for step in range(4):
            begin = 1_000 * step + process
            tables[NVTX].append(nvtx(begin, begin + 900, f"step {step}", process=process))
            for number in range(6):
                id_, start = 10 * step + number, begin + 100 * number
                tables[R].append(call(start, start + 5, id_, process=process, thread=process + number % 2))
                tables[K].append(kernel(start + 10, start + 60, id_, process=process, deviceId=process // 200))
    acts = Activities(api.load(export(tmp_path / "x.sqlite", {**tables, GPU: [gpu(0), gpu(1)]})))
    for device in (0, 1):
        rows = acts.base[acts.device[acts.base] == device]
        steps = find_steps(acts, rows)
        assert steps is not None
        assert steps.index is not None
        assert np.bincount(steps.index).tolist() == [6, 6, 6, 6]


# --- old, trimmed and edited exports --------------------------------------------------------------------------------


def test_an_export_of_2020(tmp_path: Path) -> None:
    old = {
        "name": "Tesla V100-PCIE-32GB", "deviceId": 0, "pid": 100, "numMultiprocessors": 80, "coreClockRate": 1_380_000,
        "globalMemoryBandwidth": 900_000_000, "computeCapabilityMajor": 7, "computeCapabilityMinor": 0,
    }  # fmt: skip
    few = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName")
    rows = [{key: kernel(1, 5)[key] for key in few}]
    result = read_of(tmp_path, {K: rows, "TARGET_INFO_CUDA_GPU": [old]}, meta=False)
    table = table_of(result, K)
    (device,) = table.devices
    assert (device.name, device.cc, device.sm_count, device.sm_clock_hz, device.memory_bandwidth) == (
        "Tesla V100-PCIE-32GB", 7.0, 80, 1.38e9, 9e11,
    )  # fmt: skip
    assert not {"grid_x", "registers"} & table.columns.keys()
    assert table.source.version == ""
    assert "does not say which release" in texts(result, "info")[0]


def test_figures_that_are_null_are_unknown(tmp_path: Path) -> None:
    rows = [kernel(1, 5, registersPerThread=None, streamId=None), kernel(6, 9, 2)]
    table = table_of(read_of(tmp_path, {K: rows, GPU: [gpu(smCount=0, memoryBandwidth=None)]}), K)
    np.testing.assert_array_equal(table.columns["registers"], [np.nan, 32.0])
    assert table.columns["stream"].tolist() == [-1, 7]
    assert table.source.reasons["registers"].tolist() == [2, 0]
    assert (table.devices[0].sm_count, table.devices[0].memory_bandwidth) == (None, None)


def test_kernels_named_by_what_is_left_of_the_texts(tmp_path: Path) -> None:
    rows = [kernel(1, 2, name=77), kernel(3, 4, 2, name=77, shortName=1), kernel(5, 6, 3)]
    result = read_of(tmp_path, {K: rows})
    names = table_of(result, K).columns["name"].tolist()
    assert names == ["[kernel without a name]", "void gemm(float *)", "void gemm(float *)"]
    assert texts(result, "data-loss") == ["1 kernel without a name among the texts of StringIds"]


def test_extra_columns_and_tables_do_no_harm(tmp_path: Path) -> None:
    result = read_of(tmp_path, {K: [{**kernel(1, 2), "name": "gemm", "weird": b"\xff"}], "EXTRAP_FORMAT": []})
    assert len(table_of(result, K)) == 1
    assert not texts(result, "data-loss")


def test_text_where_a_number_should_be(tmp_path: Path) -> None:
    rows = [kernel(1, 2, gridX="many", registersPerThread="40"), kernel(3, 4, 2)]
    result = read_of(tmp_path, {K: rows})
    columns = table_of(result, K).columns
    np.testing.assert_array_equal(columns["grid_x"], [np.nan, 4.0])
    assert columns["registers"].tolist() == [40.0, 32.0]
    assert texts(result, "data-loss") == ["1 cell left out, not a number"]


def test_rows_without_valid_times_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [kernel(5, 3), kernel(0, 0, 2), kernel(1, 2, 3), kernel(4, None, 4)]  # type: ignore[arg-type]
    result = read_of(tmp_path, {K: rows})
    assert table_of(result, K).columns["line"].tolist() == [3]
    (issue,) = (issue for issue in result.issues if issue.level == Level.DATA_LOSS)
    assert (issue.text, issue.location.line, issue.location.table) == ("3 rows left out, without valid times", 1, K)


def test_names_that_are_no_utf8_and_names_with_control_characters(tmp_path: Path) -> None:
    names = strings(b"ker\xe9nel", "cudaLaunchKernel", "a\x00b\x1b[31m[/foo]")
    path = export(tmp_path / "x.sqlite", {K: [kernel(1, 2), kernel(3, 4, 2, name=3)], "StringIds": names})
    assert table_of(read(path), K).columns["name"].tolist() == ["ker\ufffdnel", "a\x00b\x1b[31m[/foo]"]
    assert len(api.load(path).activities) == 2


# --- what is not there ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [192, 0], ids=["launches", "no launches"])
def test_calls_without_kernels_are_no_idle_gpu(tmp_path: Path, rows: int) -> None:
    calls = [call(row, row + 1, row) for row in range(rows)] + [call(900, 901, 901, name=3)]
    path = export(tmp_path / "x.sqlite", {R: calls, K: []})
    result = read(path)
    (issue,) = (issue for issue in result.issues if "no kernels" in issue.text)
    assert issue.level == (Level.DATA_LOSS if rows else Level.INFO)
    assert f"({rows} launch calls): GPU time is unknown, not zero" in issue.text
    assert len(table_of(result, R)) == rows + 1
    report = api.analyze(api.load(path))
    assert (report.totals.gpu_busy_ns, report.totals.window_ns, report.findings) == (None, None, ())


@pytest.mark.parametrize(
    ("tables", "holds"),
    [
        ({}, "no events at all"),
        ({NVTX: [nvtx(1, 2, "x")], "SCHED_EVENTS": [{"start": 1}]}, "NVTX ranges, thread scheduling"),
        ({K: [], M: [], R: [], NVTX: [], OSRT: []}, "no events at all"),
    ],
)
def test_nothing_of_cuda(tmp_path: Path, tables: dict[str, list[Row]], holds: str) -> None:
    with pytest.raises(EmptyInput, match=f"no CUDA activity in this export; it holds {holds}; capture with nsys"):
        read_of(tmp_path, tables)


def _launches(kernels: range, calls: range) -> dict[str, list[Row]]:
    return {
        K: [kernel(1_000 + 10 * row, 1_005 + 10 * row, row) for row in kernels],
        R: [call(10 * row, 10 * row + 1, row) for row in calls],
    }


def test_gpu_side_that_ends_early(tmp_path: Path) -> None:
    result = read_of(tmp_path, _launches(range(7), range(100)))
    (text,) = texts(result, "data-loss")
    assert text.startswith("93 of 100 kernel launches have no kernel in the export: it ends before the host does")
    assert text.endswith("93 API calls from then on left out")
    assert len(table_of(result, R)) == 7
    assert "start" in table_of(result, K).columns


def test_kernels_missing_in_between_make_no_idle_gpu(tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", _launches(range(0, 100, 4), range(100)))
    result = read(path)
    assert "start times and API calls are left out" in texts(result, "data-loss")[0]
    assert [table.source.table for table in result.tables] == [K]
    assert "start" not in table_of(result, K).columns
    totals = api.analyze(api.load(path)).totals
    assert (totals.kernel_ns, totals.window_ns, totals.gpu_busy_ns, totals.api_ns) == (125.0, None, None, None)


@pytest.mark.parametrize(
    ("kernels", "calls"), [(range(100), range(100)), (range(97), range(100)), (range(50, 150), range(100, 200))]
)
def test_kernels_that_are_there_or_cut_at_the_edges_keep_their_times(
    tmp_path: Path, kernels: range, calls: range
) -> None:
    result = read_of(tmp_path, _launches(kernels, calls))
    assert not texts(result, "data-loss")
    assert len(table_of(result, R)) == 100
    assert "start" in table_of(result, K).columns


def test_launches_captured_into_a_graph_lack_no_kernel(tmp_path: Path) -> None:
    names = [*NAMES, {"id": 9, "value": "cudaStreamBeginCapture_v10000"}]
    tables = _launches(range(0, 100, 4), range(100))
    tables[R].append(call(1, 2, 1_000, name=9))
    assert not texts(read_of(tmp_path, {**tables, "StringIds": names}), "data-loss")


def test_graphs_traced_as_a_whole_are_gpu_time(tmp_path: Path) -> None:
    graph = {
        "start": 100, "end": 900, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 3,
        "globalPid": of_process(100), "graphId": 4, "graphExecId": 5,
    }  # fmt: skip
    names = [*NAMES, {"id": 9, "value": "cudaGraphLaunch_v10000"}]
    tables = {K: [kernel(10, 20, 1)], G: [graph], R: [call(1, 2, 1), call(30, 50, 3, name=9)], "StringIds": names}
    path = export(tmp_path / "x.sqlite", tables)
    result = read(path)
    columns = table_of(result, G).columns
    assert (columns["kind"][0], columns["name"][0], columns["api_duration"][0]) == ("graph", "[CUDA graph 4]", 20)
    assert "--cuda-graph-trace=node" in texts(result, "info")[0]
    totals = api.analyze(api.load(path)).totals
    assert (totals.kernel_ns, totals.gpu_busy_ns, totals.launches) == (810.0, 810.0, 2)
    assert totals.families["graph"] == 800.0


# --- devices --------------------------------------------------------------------------------------------------------


def test_only_gpus_that_worked_are_devices(tmp_path: Path) -> None:
    others = [gpu(1, name="Intel(R) HD Graphics 630", smCount=0, computeMajor=0, cuDevice=0), gpu(2)]
    result = read_of(tmp_path, {K: [kernel(1, 2)], GPU: [gpu(0), *others]})
    assert [(device.index, device.name) for device in result.tables[0].devices] == [(0, "NVIDIA H200")]


def test_cuda_numbers_lead_to_the_right_gpu(tmp_path: Path) -> None:
    """CUDA lists the faster GPU first, nsys by its own ids."""
    gpus = [gpu(0, name="NVIDIA A40", cuDevice=1), gpu(1, name="NVIDIA A100-PCIE-40GB", cuDevice=0)]
    result = read_of(tmp_path, {K: [kernel(1, 2)], GPU: gpus})
    assert [(device.index, device.name) for device in result.tables[0].devices] == [(0, "NVIDIA A100-PCIE-40GB")]


@pytest.mark.parametrize(
    ("numbers", "devices"),
    [
        ({(100, 0): 0, (200, 0): 1}, [0, 1]),
        ({(100, 0): 1, (200, 0): 0}, [1, 0]),
        ({(100, 0): 1, (100, 1): 0, (200, 0): 1, (200, 1): 0}, [0, 0]),
    ],
    ids=["one visible each", "crosswise", "both visible"],
)
def test_processes_that_see_different_gpus(
    tmp_path: Path, numbers: dict[tuple[int, int], int], devices: list[int]
) -> None:
    rows = [{"gpuId": id_, "cudaId": number, "pid": process} for (process, number), id_ in numbers.items()]
    kernels = [kernel(1, 2), kernel(1, 2, process=200)]
    tables = {K: kernels, GPU: [gpu(0, cuDevice=1), gpu(1, cuDevice=0)], "TARGET_INFO_CUDA_DEVICE": rows}
    result = read_of(tmp_path, tables)
    assert table_of(result, K).columns["device"].tolist() == devices
    assert [device.index for device in result.tables[0].devices] == sorted(set(devices))
    assert any("number the GPUs differently" in text for text in texts(result, "info")) == (len(set(devices)) > 1)


# --- what the profiler says -----------------------------------------------------------------------------------------


def _said(*lines: tuple[int, str]) -> list[Row]:
    return [{"timestamp": 0, "source": 1, "severity": severity, "text": text} for severity, text in lines]


def test_diagnostics(tmp_path: Path) -> None:
    diagnostics = _said(
        (1, "Profiling has started."),
        (1, "Number of incomplete CUPTI events dropped: 2737. More words."),
        (1, "Number of incomplete CUPTI events dropped: 0."),
        (2, "Not all CUDA events might have been collected."),
        (2, "Not all CUDA events might have been collected."),
        (2, "Not all NVTX events might have been collected."),
        (2, "No OpenGL events collected. Does the process use OpenGL?"),
        (3, "CUDA driver of user in /home/alice/x is too old"),
        (2, "CUDA trace of C:\\Users\\Alice Smith\\app.exe is limited"),
        (2, "Sampling is off"),
    )
    result = read_of(tmp_path, {K: [kernel(1, 2)], "DIAGNOSTIC_EVENT": diagnostics})
    assert texts(result, "data-loss") == [
        "nsys says: Number of incomplete CUPTI events dropped: 2737. More words.",
        "nsys says: Not all CUDA events might have been collected.",
    ]
    said = [text for text in texts(result, "info") if text.startswith("nsys says")]
    assert said == ["nsys says: CUDA driver of user in", "nsys says: CUDA trace of"]
    (lost, *_) = (issue for issue in result.issues if issue.level == Level.DATA_LOSS)
    assert (lost.location.line, lost.location.table) == (2, "DIAGNOSTIC_EVENT")


def test_the_cost_of_profiling_is_told(tmp_path: Path) -> None:
    rows = [{"start": 0, "end": 1_000_000}, {"start": 5, "end": 500_005}]
    result = read_of(tmp_path, {K: [kernel(1, 2)], "PROFILER_OVERHEAD": rows, "CUPTI_ACTIVITY_KIND_OVERHEAD": rows[:1]})
    assert texts(result, "info") == [
        "2 intervals of the profiler's own work, 1.50 ms in all",
        "1 interval of CUDA's own overhead (module loading, full command buffers, profiling), 1.00 ms in all",
    ]


@pytest.mark.parametrize(
    ("meta", "folder", "version", "said"),
    [
        ("2024.5.1.113-245134037904v0", "/opt/nvidia/nsight-systems/2022.2.1/target", "2024.5.1", "captured by"),
        ("2025.3.2.474", "/opt/nvidia/nsight-systems-cli/2025.3.2/target", "2025.3.2", ""),
        ("2025.3.2.0", "/opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64", "2025.3.2", ""),
        ("", "C:/Program Files\\NVIDIA Corporation\\Nsight Systems 2021.5.2\\target-windows-x64", "2021.5.2", ""),
        ("", "", "", "does not say which release"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("table", ["META_DATA_EXPORT", "EXPORT_META_DATA"])
def test_versions(tmp_path: Path, table: str, meta: str, folder: str, version: str, said: str) -> None:
    tables = {
        K: [kernel(1, 2)],
        table: [{"name": "EXPORT_PRODUCT_VERSION", "value": meta}],
        "TARGET_INFO_SYSTEM_ENV": [{"name": "TargetInstallDir", "value": folder}],
        GPU: [gpu()],
    }
    result = read_of(tmp_path, tables, meta=False)
    assert result.tables[0].source.version == version
    assert texts(result, "info") == [] if not said else said in texts(result, "info")[0]


def test_an_export_of_a_part_says_so(tmp_path: Path) -> None:
    meta = [
        {"name": "EXPORT_PARAM_TABLES_TO_EXPORT", "value": K},
        {"name": "EXPORT_PRODUCT_VERSION", "value": "2025.3"},
    ]
    result = read_of(tmp_path, {K: [kernel(1, 2)], "META_DATA_EXPORT": meta})
    assert texts(result, "info") == ["only some tables or times of the capture were exported"]


SECRET = "hunter2"  # noqa: S105 - stands for what must not be shown


def test_nothing_about_the_machine_is_shown(tmp_path: Path) -> None:
    """Environment, user, host, command line, processes and program output stay in the file."""
    value = [{"id": 1, "name": "EXPORT_USER", "value": SECRET}, {"name": "EXPORT_HOST", "value": SECRET}]
    tables = {
        K: [kernel(5, 50)],
        R: [call(1, 2)],
        "StringIds": [*NAMES, {"id": 90, "value": f"TOKEN={SECRET}\x00PATH=/{SECRET}"}],
        "META_DATA_EXPORT": value,
        "META_DATA_CAPTURE": value,
        "TARGET_INFO_SYSTEM_ENV": [
            {"name": "DeviceEnvironment", "value": SECRET},
            {"name": "Hostname", "value": SECRET},
        ],
        "PROCESSES": [{"globalPid": 1, "pid": 1, "name": SECRET}],
        "ProcessStreams": [{"globalPid": 1, "filenameId": 90, "contentId": 90}],
        "ThreadNames": [{"nameId": 90, "globalTid": of_thread(100, 100)}],
        "DIAGNOSTIC_EVENT": _said((3, f"CUDA failed in /home/{SECRET}"), (2, f"GPU {SECRET}/x")),
    }
    report = api.analyze(api.load(export(tmp_path / "x.sqlite", tables)))
    assert "TARGET_INFO_GPU" not in json_reporter.render(report, RenderOptions()) or report.devices
    assert SECRET not in json_reporter.render(report, RenderOptions())


# --- many rows ------------------------------------------------------------------------------------------------------


def test_more_rows_than_are_kept_one_by_one_are_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [kernel(10 * row, 10 * row + 1 + row % 3, row, gridX=1 + row % 2) for row in range(1, 13)]
    copies = [copy(row, row + 2, row, srcKind=row % 2) for row in range(1, 9)]
    calls = [call(row, row + 3, row) for row in range(1, 13)]
    path = export(tmp_path / "x.sqlite", {K: kernels, M: copies, R: calls, NVTX: [nvtx(1, 2, "x")] * 6})
    each = api.load(path).activities
    monkeypatch.setattr(_sqlite_sums, "MAX_ROWS", 5)
    result = read(path)
    reports = {table.source.table: (table.source.report, len(table)) for table in result.tables}
    assert reports == {
        K: ("cuda_gpu_kern_gb_sum", 2), M: ("cuda_gpu_mem_time_sum", 2), R: ("cuda_api_sum", 1)
    }  # fmt: skip
    summed = api.load(path).activities
    for kind in ("kernel", "memcpy", "api"):
        one, all_ = each[each["kind"] == kind], summed[summed["kind"] == kind]
        assert all_["duration"].sum() == one["duration"].sum()
        assert all_["count"].sum() == len(one)
        assert (all_["min"].min(), all_["max"].max()) == (one["duration"].min(), one["duration"].max())
        assert all_["start"].isna().all()
    assert summed["bytes"].sum() == each["bytes"].sum() == 8_000
    assert sum("nothing is known of order" in text for text in texts(result, "info")) == 3
    assert texts(result, "data-loss") == ["6 rows left out, more than 5"]


def test_rows_are_the_same_however_they_are_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [kernel(10 * row, 10 * row + 5, row, registersPerThread=None if row % 3 else row) for row in range(1, 12)]
    path = export(tmp_path / "x.sqlite", {K: kernels, NVTX: [nvtx(row, row + 1, "x") for row in range(9)]})
    whole = read(path)
    monkeypatch.setattr(_sqlite_database, "CHUNK", 4)
    monkeypatch.setattr(_sqlite_database, "_PARAMETERS", 1)
    for one, other in zip(whole.tables, read(path).tables, strict=True):
        for name, values in one.columns.items():
            np.testing.assert_array_equal(values, other.columns[name])


# --- the file itself ------------------------------------------------------------------------------------------------


def _state(folder: Path) -> dict[str, tuple[str, int, int]]:
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, path.stat().st_size)
        for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_reading_leaves_no_trace(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "odd name?mode=rwc&x=%41#.sqlite"
    path.write_bytes(FIXTURE.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.close()
    before = _state(tmp_path)
    assert nsys_sqlite.sniff(open_path(path)) == 1.0
    assert len(api.load(path).activities) > 10_000
    assert _state(tmp_path) == before
    assert list(before) == [path.name]


def test_a_log_beside_the_file_is_not_read_and_said(tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", {K: [kernel(1, 2)]})
    (tmp_path / "x.sqlite-wal").write_bytes(b"1")
    (tmp_path / "x.sqlite-journal").write_bytes(b"")
    assert texts(read(path), "data-loss") == ["x.sqlite-wal beside the file is not read: the export was not finished"]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_bytes_give_the_same_as_the_file(tmp_path: Path, mode: str) -> None:
    path = export(tmp_path / "x.sqlite", {K: [kernel(5, 9)], R: [call(1, 2)], NVTX: [nvtx(0, 3, "x")]})
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.close()
    from_file, from_memory = read(path), nsys_sqlite.read(from_bytes("-", path.read_bytes()))
    assert from_memory.tables[0].source.path == "-"
    for one, other in zip(from_file.tables, from_memory.tables, strict=True):
        assert one.columns.keys() == other.columns.keys()
        for name, values in one.columns.items():
            np.testing.assert_array_equal(values, other.columns[name])


def test_recognised_by_content(tmp_path: Path) -> None:
    named = export(tmp_path / "report.txt", {K: [kernel(1, 2)]})
    trimmed = export(tmp_path / "kernels-only.db", {K: [kernel(1, 2)], "StringIds": []}, meta=False)
    other = export(tmp_path / "other.sqlite", {"messages": [{"text": "x"}], "StringIds": []}, meta=False)
    nvprof = export(tmp_path / "nvprof.db", {K: [kernel(1, 2)], "StringTable": [{"value": "x"}]}, meta=False)
    text = tmp_path / "x.sqlite"
    text.write_text("Time (%),Total Time (ns)\n")
    assert [nsys_sqlite.sniff(open_path(path)) for path in (named, trimmed, other, nvprof, text)] == [1, 1, 0, 0, 0]
    with pytest.raises(UnrecognizedInput, match="without tables of Nsight Systems"):
        read(other)
    with pytest.raises(UnrecognizedInput, match="an SQLite database, but not one that Nsight Systems exported"):
        api.load(other)


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9])
def test_a_truncated_file_gives_what_is_left_or_a_plain_error(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "cut.sqlite"
    content = FIXTURE.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    try:
        result = read(path)
    except InputError as error:
        text = error.text
    else:
        text = " ".join(texts(result, "data-loss"))
        assert 0 < sum(len(table) for table in result.tables) < 11_700
    assert "damaged SQLite database" in text or "cannot be read" in text


@pytest.mark.parametrize("content", [b"SQLite format 3\x00", b"SQLite format 3\x00" + bytes(range(256)) * 20])
def test_garbage_behind_the_magic_number(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(content)
    with pytest.raises(UnrecognizedInput, match="damaged SQLite database"):
        api.load(path)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", {K: [kernel(1, 2)]})
    text = open_path(path)
    assert text.magic
    path.unlink()
    with pytest.raises(MissingInput, match="unable to open"):
        nsys_sqlite.read(text)


def test_views_in_place_of_tables_are_not_run(tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", {R: [call(1, 2)]})
    connection = sqlite3.connect(path)
    bomb = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS start, x AS "end" FROM n'
    connection.execute(f"CREATE VIEW {K} AS {bomb}")
    connection.commit()
    connection.close()
    assert "no kernels were recorded" in " ".join(texts(read(path), "data-loss"))
