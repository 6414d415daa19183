"""Published outputs of nvprof against what their lines say when they are read one by one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from nsight_insight import api
from nsight_insight.errors import InputError
from nsight_insight.readers import nvprof, read
from nsight_insight.readers.text import SourceText, open_path
from tests.paths import CORPUS

FOLDER = CORPUS / "nvprof"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs the folder of published files")

SUMMARY, TRACE, UNIFIED = "nvprof-summary", "nvprof-gpu-trace", "nvprof-unified-memory"
PUBLISHED: dict[str, tuple[dict[str, int], int]] = {
    "api-trace-v100.txt": ({"nvprof-api-trace": 1}, 0),
    "concurrent-matmul-v100.out": ({TRACE: 1}, 0),
    "gpu-trace-text-titanxp.txt": ({TRACE: 1}, 0),
    "gpu-trace-v100-log-nopid.txt": ({TRACE: 1}, 0),
    "jetson-torch-gpu-trace.csv": ({TRACE: 1}, 0),
    "llmc-bf16-summary.txt": ({SUMMARY: 1, "nvprof-nvtx": 35}, 0),
    "metrics-darknet.txt": ({"nvprof-metrics": 1}, 0),
    "repeated-runs-nbody.txt": ({SUMMARY: 7, UNIFIED: 4}, 0),
    "summary-csv-no-units-row.csv": ({SUMMARY: 1}, 0),
    "summary-v100-log-nopid.txt": ({SUMMARY: 1}, 0),
    "um-gpu-summary.txt": ({UNIFIED: 1}, 1),
    "um-managed-summary.txt": ({SUMMARY: 1, UNIFIED: 1}, 0),
    "um-no-kernels-profiled.txt": ({SUMMARY: 1, UNIFIED: 1}, 1),
}
"""File -> tables in it, and issues of data loss (lost records of unified memory)."""
NS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
TIME = r"([\d.]+)(s|ms|us|ns)"


def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8", errors="replace")


def test_every_published_file_has_an_expected_status() -> None:
    assert {path.name for path in FOLDER.iterdir()} - {"INDEX.tsv"} == PUBLISHED.keys()


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_files_are_read(name: str) -> None:
    result = read(open_path(FOLDER / name))
    wanted, lost = PUBLISHED[name]
    assert Counter(table.source.report for table in result.tables) == wanted
    assert {table.source.reader for table in result.tables} == {"nvprof"}
    losses = [issue for issue in result.issues if issue.level.label == "data-loss"]
    assert len(losses) == lost, losses
    assert any("compute capability 8.0" in issue.text for issue in result.issues)
    api.analyze(api.load(FOLDER / name))


def total(name: str, *reports: str) -> tuple[int, int, float]:
    found = [table for table in nvprof.read(open_path(FOLDER / name)).tables if table.source.report in reports]
    rows = sum(map(len, found))
    return (
        rows,
        sum(int(t.columns["count"].sum()) for t in found),
        sum(float(t.columns["duration"].sum()) for t in found),
    )


SUMMARY_ROW = re.compile(
    rf"^ *(?!.*Range:)[A-Za-z :]*[\d.]+%,? *{TIME},? +(\d+) +[\d.]+[mun]?s +[\d.]+[mun]?s", re.MULTILINE
)
COMMA_ROW = re.compile(rf"^[\d.]+%,{TIME},(\d+),[\d.]+[mun]?s,", re.MULTILINE)


@pytest.mark.parametrize(
    "name",
    ["llmc-bf16-summary.txt", "repeated-runs-nbody.txt", "summary-csv-no-units-row.csv", "summary-v100-log-nopid.txt",
     "um-managed-summary.txt", "um-no-kernels-profiled.txt"],
)  # fmt: skip
def test_sums_of_published_summaries(name: str) -> None:
    row = COMMA_ROW if name.endswith(".csv") else SUMMARY_ROW
    true = [(float(value) * NS[unit], int(count)) for value, unit, count in row.findall(text_of(name))]
    ranges = [table for table in nvprof.read(open_path(FOLDER / name)).tables if table.source.report == "nvprof-nvtx"]
    ranged = sum(float(t.columns["duration"][t.columns["kind"] == "range"].sum()) for t in ranges)
    own = sum(int((t.columns["kind"] == "range").sum()) for t in ranges)
    calls = sum(int(t.columns["count"][t.columns["kind"] == "range"].sum()) for t in ranges)
    rows, launches, time = total(name, SUMMARY, "nvprof-nvtx")
    assert rows - own == len(true) > 0
    assert launches - calls == sum(count for _, count in true)
    assert time - ranged == pytest.approx(sum(time for time, _ in true), rel=1e-9)


TRACE_ROW = re.compile(rf"^ *{TIME} +{TIME} +(?=\(|-|cu)", re.MULTILINE)


@pytest.mark.parametrize(
    "name",
    ["concurrent-matmul-v100.out", "gpu-trace-text-titanxp.txt", "gpu-trace-v100-log-nopid.txt", "api-trace-v100.txt"],
)
def test_sums_of_published_traces(name: str) -> None:
    true = [float(value) * NS[unit] for _, _, value, unit in TRACE_ROW.findall(text_of(name))]
    rows, launches, time = total(name, TRACE, "nvprof-api-trace")
    assert rows == launches == len(true) > 0
    assert time == pytest.approx(sum(true), rel=1e-9)


def test_sums_of_a_published_csv() -> None:
    lines = [line.split(",", 2) for line in text_of("jetson-torch-gpu-trace.csv").split("\n")]
    true = [float(cells[1]) * 1e6 for cells in lines if len(cells) == 3 and re.fullmatch(r"[\d.]+", cells[0])]
    rows, _, time = total("jetson-torch-gpu-trace.csv", TRACE)
    assert rows == len(true) == 15
    assert time == pytest.approx(sum(true), rel=1e-12)


def test_ranges_repeat_nothing() -> None:
    frame = api.load(FOLDER / "llmc-bf16-summary.txt").activities
    kernels = frame[frame["primary"] & (frame["kind"] == "kernel")]
    (first,) = [
        t for t in nvprof.read(open_path(FOLDER / "llmc-bf16-summary.txt")).tables if t.source.report == SUMMARY
    ]
    assert kernels["duration"].sum() == first.columns["duration"][first.columns["kind"] == "kernel"].sum()


def test_metrics_of_a_published_run() -> None:
    frame = api.load(FOLDER / "metrics-darknet.txt").activities
    row = frame[frame["name"].str.startswith("normalize_kernel")].iloc[0]
    assert (row["count"], row["achieved_occupancy"], row["ipc_active"]) == (18, 0.622020, 0.756203)
    assert (row["l1_hit_rate"], row["branch_uniformity"]) == (0.1887, 1.0)
    assert row["fp32_instructions"] == 18 * 6_553_600
    assert frame["duration"].isna().all()


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("part", [0.25, 0.5, 0.75])
def test_published_files_may_end_anywhere(name: str, part: float) -> None:
    data = Path(FOLDER / name).read_bytes()
    try:
        result = nvprof.read(SourceText(name, data[: int(len(data) * part)]))
    except InputError:
        return
    assert 0 < sum(map(len, result.tables)) <= sum(map(len, nvprof.read(open_path(FOLDER / name)).tables))
