"""Real captures and published files against numbers worked out without the reader."""

from __future__ import annotations

import csv
import re
import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.model.profile import Profile, Table
from nsight_insight.readers import nsys_csv
from nsight_insight.readers.text import open_path
from tests.paths import CAPTURES, CORPUS, FIXTURES

AMP, FP32 = FIXTURES / "nsys-csv/2025.3-h200-amp", FIXTURES / "nsys-csv/2025.3-h200-fp32"
RUNS = {
    "amp": (AMP, "amp_fp16", 2810, 40_079_365, 66, 47_831_323, 196, 185_824),
    "fp32": (FP32, "fp32", 2428, 194_275_177, 54, 48_074_712, 156, 178_335),
}


def one(path: Path) -> Table:
    (table,) = nsys_csv.read(open_path(path)).tables
    return table


def total(table: Table, kind: str) -> tuple[int, int]:
    rows = table.columns["kind"] == kind
    return int(table.columns["count"][rows].sum()), int(table.columns["duration"][rows].sum())


def primary(profile: Profile, kind: str) -> tuple[int, int]:
    frame = profile.activities
    rows = frame[frame["primary"] & (frame["kind"] == kind)]
    return int(rows["count"].sum()), int(rows["duration"].sum())


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("report", ["cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_sum", "cuda_gpu_trace"])
def test_kernel_time_of_every_report(run: str, report: str) -> None:
    folder, stem, launches, time, *_ = RUNS[run]
    assert total(one(folder / f"{stem}_{report}.csv"), "kernel") == (launches, time)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("report", ["cuda_gpu_mem_time_sum", "cuda_gpu_sum", "cuda_api_gpu_sum", "cuda_gpu_trace"])
def test_memory_time_of_every_report(run: str, report: str) -> None:
    folder, stem, _, _, copies, copy_time, sets, set_time = RUNS[run]
    table = one(folder / f"{stem}_{report}.csv")
    assert total(table, "memcpy") == (copies, copy_time)
    assert total(table, "memset") == (sets, set_time)


@pytest.mark.parametrize("run", RUNS)
def test_a_whole_directory_counts_everything_once(run: str) -> None:
    folder, _, launches, time, copies, copy_time, sets, set_time = RUNS[run]
    profile = api.load(folder)
    assert primary(profile, "kernel") == (launches, time)
    assert primary(api.load(_file(run, "cuda_gpu_kern_sum")), "kernel") == (launches, time)
    assert primary(profile, "memcpy") == (copies, copy_time)
    assert primary(profile, "memset") == (sets, set_time)
    assert primary(profile, "api") == _sum(_file(run, "cuda_api_sum"), "Num Calls", "Total Time (ns)")
    assert primary(profile, "osrt") == _sum(_file(run, "osrt_sum"), "Num Calls", "Total Time (ns)")
    assert primary(profile, "range") == _sum(_file(run, "nvtx_sum"), "Instances", "Total Time (ns)")
    assert [(device.index, device.name, device.cc) for device in profile.devices] == [(0, "NVIDIA H200", 9.0)]
    assert not [issue for issue in profile.issues if "another capture" in issue.text or issue.level > 0]
    assert len(profile.issues) < 15


def _file(run: str, report: str) -> Path:
    return RUNS[run][0] / f"{RUNS[run][1]}_{report}.csv"


def _sum(path: Path, *headings: str) -> tuple[int, ...]:
    rows = list(csv.DictReader(path.read_text().splitlines()))
    return tuple(sum(int(row[heading]) for row in rows) for heading in headings)


def test_two_runs_in_one_profile_are_two() -> None:
    profile = api.load(_file("amp", "cuda_gpu_trace"), _file("fp32", "cuda_gpu_kern_sum"))
    assert primary(profile, "kernel") == (2810 + 2428, 40_079_365 + 194_275_177)
    assert "another capture" in profile.issues[-1].text


@pytest.mark.parametrize("run", RUNS)
def test_standard_output_holds_the_same_tables_as_the_files(run: str) -> None:
    folder = RUNS[run][0]
    tables = nsys_csv.read(open_path(folder / "default_stdout.csv")).tables
    assert [table.source.report for table in tables] == [
        "nvtx_sum", "osrt_sum", "cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
    ]  # fmt: skip
    for table in tables:
        same = one(_file(run, table.source.report))
        assert table.columns.keys() == same.columns.keys()
        offset = table.columns["line"][0] - 2
        np.testing.assert_array_equal(table.columns["line"] - offset, same.columns["line"])
        for name in same.columns.keys() - {"line"}:
            np.testing.assert_array_equal(table.columns[name], same.columns[name])


@pytest.mark.parametrize("run", RUNS)
def test_milliseconds_are_the_same_within_rounding(run: str) -> None:
    kernels, calls = nsys_csv.read(open_path(RUNS[run][0] / "msec.csv")).tables
    for table, report in ((kernels, "cuda_gpu_kern_sum"), (calls, "cuda_api_sum")):
        exact = one(_file(run, report))
        np.testing.assert_array_equal(table.columns["name"], exact.columns["name"])
        for name in ("duration", "avg", "median", "min", "max", "std"):
            assert np.abs(table.columns[name] - exact.columns[name]).max() <= 50.0 + 1e-6, name


def test_launch_traces_agree_with_the_gpu_trace() -> None:
    launches, trace = one(_file("amp", "cuda_kern_exec_trace")), one(_file("amp", "cuda_gpu_trace"))
    kernels = trace.columns["kind"] == "kernel"
    columns = ("start", "duration", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
    left = sorted(zip(*(launches.columns[name] for name in columns), strict=True))
    right = sorted(zip(*(trace.columns[name][kernels] for name in columns), strict=True))
    assert left == right
    assert np.isnan(launches.columns["queue_duration"]).any()


# --- against the tool's own database --------------------------------------------------------------------------------

DATABASE = pytest.mark.skipif(not CAPTURES.exists(), reason="needs the captures' databases")


@DATABASE
@pytest.mark.parametrize("run", RUNS)
def test_sizes_of_copies_and_sets(run: str) -> None:
    """To the byte up to 1 ms, and better than the printed kilobyte above."""
    connection = sqlite3.connect(f"file:{CAPTURES}/h200-amp/nsys/{RUNS[run][1]}.sqlite?mode=ro&immutable=1", uri=True)
    true = dict(
        connection.execute(
            "SELECT start, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY UNION ALL "
            "SELECT start, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET"
        )
    )
    connection.close()
    columns = one(_file(run, "cuda_gpu_trace")).columns
    memory = columns["kind"] != "kernel"
    assert memory.sum() == len(true)
    for start, duration, size in zip(*(columns[name][memory] for name in ("start", "duration", "bytes")), strict=True):
        assert abs(size - true[int(start)]) <= (0 if duration <= 1e6 else duration * 5e-7 + 1), (start, duration)


# --- published files ------------------------------------------------------------------------------------------------

TEXTS = sorted((CORPUS / "nsys").glob("*.csv"))
NEEDS_CORPUS = pytest.mark.skipif(not TEXTS, reason="needs the folder of published files")


@NEEDS_CORPUS
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_published_files_are_read(path: Path) -> None:
    profile = api.load(path)
    assert len(profile.activities)
    assert {source.reader for source in profile.sources} == {"nsys_csv"}


ROW = re.compile(r"(?P<percent>[0-9.]+),(?P<time>[0-9]+),(?P<count>[0-9]+),")


@NEEDS_CORPUS
@pytest.mark.parametrize(
    "name",
    [
        "vllm-a100-kern_sum-o.csv",
        "gru-kern_sum.csv",
        "resnet18-kern_sum.csv",
        "resnet18-api_sum.csv",
        "torch-large-ctx1024-kern_sum.csv",
        "trt-bert-fp16-nvtx_sum.csv",
        "windows-kern_sum-api_sum-2024.6.2.csv",
        "csv-stdout-all-reports-2025.1.1-skipped.csv",
    ],
)
def test_sums_of_published_summaries(name: str) -> None:
    """Against the second and third field of every line that begins like a row."""
    lines = (CORPUS / "nsys" / name).read_text(errors="replace").splitlines()
    found = [match for line in lines if (match := ROW.match(line))]
    frame = api.load(CORPUS / "nsys" / name).activities
    assert len(frame) == len(found) > 0
    assert frame["duration"].sum() == sum(int(match["time"]) for match in found)
    assert frame["count"].sum() == sum(int(match["count"]) for match in found)


@NEEDS_CORPUS
def test_a_published_trace_against_its_database() -> None:
    connection = sqlite3.connect(f"file:{CORPUS}/nsys/b200-int8-algo23.sqlite?mode=ro&immutable=1", uri=True)
    copies = connection.execute("SELECT start, end - start, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY").fetchall()
    sets = connection.execute("SELECT start, end - start, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET").fetchall()
    kernels = connection.execute(
        "SELECT start, end - start, gridX, blockX, registersPerThread FROM CUPTI_ACTIVITY_KIND_KERNEL"
    ).fetchall()
    connection.close()
    frame = api.load(CORPUS / "nsys/b200-int8-algo23-gpu_trace.csv").activities
    for kind, rows, names in (
        ("memcpy", copies, ["start", "duration", "bytes"]),
        ("memset", sets, ["start", "duration", "bytes"]),
        ("kernel", kernels, ["start", "duration", "grid_x", "block_x", "registers"]),
    ):
        found = frame.loc[frame["kind"] == kind, names]
        assert sorted(found.itertuples(index=False, name=None)) == sorted(rows)
    profile = api.load(*(CORPUS / "nsys").glob("b200-int8-algo23-*.csv"))
    assert primary(profile, "kernel") == (1, 11_649)
    assert profile.devices[0].cc == 10.0


@NEEDS_CORPUS
def test_old_launch_summaries_and_traces() -> None:
    frame = api.load(CORPUS / "nsys/a100-kernexecsum-old-name.csv").activities
    assert frame["count"].tolist() == [1, 10]
    assert frame["duration"].tolist() == [89_888.0, 591_937.0]
    assert frame["queue_duration"].isna().tolist() == [True, False]
    old = api.load(CORPUS / "nsys/a100-gputrace-None-cells.csv").activities
    assert old.loc[0, ["grid_x", "block_y", "registers", "shared_dynamic"]].tolist() == [1024, 2, 40, 6000]
    assert np.isnan(old.loc[0, "bytes"])


@NEEDS_CORPUS
def test_what_was_cut_by_its_publisher_is_said() -> None:
    lost = Counter(path.name for path in TEXTS for issue in api.load(path).issues if issue.level.label == "data-loss")
    assert lost == {"cuda_api_trace-csv-to-stdout-2023.2.3.csv": 1, "windows-kern_sum-api_sum-2024.6.2.csv": 1}
