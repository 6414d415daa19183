"""Exports against what ``nsys stats`` printed of them, against its CSV reports, and against plain SQL."""

from __future__ import annotations

import csv
import re
import sqlite3
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nsight_insight import api
from nsight_insight.config import Config, Threshold
from nsight_insight.errors import EmptyInput
from nsight_insight.model.finding import Report
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers import nsys_sqlite
from nsight_insight.readers.text import open_path
from tests.paths import CAPTURES, CORPUS, FIXTURES

FIXTURE = FIXTURES / "nsys-sqlite/2025.3-h200-amp/amp_fp16.sqlite"
PRINTED = FIXTURES / "nsys-csv/2025.3-h200-amp"
NSYS, LAB = CORPUS / "nsys", CAPTURES / "h200-amp/nsys"
NEEDS_CORPUS = pytest.mark.skipif(not NSYS.exists(), reason="needs the folder of published files")
NEEDS_CAPTURES = pytest.mark.skipif(not LAB.exists(), reason="needs the captures' databases")

VERSIONED = r"_v\d{4}$"
"""What nsys cuts from the names of API functions; five digits it leaves."""
Line = tuple[str, ...]
Figures = dict[Line, tuple[float, ...]]
"""Name (and style, grid, block) -> total, count, average, median, minimum, maximum, deviation."""


@cache
def rows_of(path: Path) -> pd.DataFrame:
    """All activity rows of an export, one by one."""
    return api.load(path).activities


@cache
def tables_of(path: Path) -> ReadResult:
    return nsys_sqlite.read(open_path(path))


# --- summaries, worked out by the standard library ------------------------------------------------------------------


def summary(frame: pd.DataFrame, key: Callable[[object], Line], values: str = "duration") -> Figures:
    groups: dict[Line, list[int]] = defaultdict(list)
    for row in frame.itertuples():
        groups[key(row)].append(int(getattr(row, values)))
    return {
        name: (
            sum(found), len(found), sum(found) / len(found), statistics.median(found), min(found), max(found),
            statistics.stdev(found) if len(found) > 1 else 0.0,
        )
        for name, found in groups.items()
    }  # fmt: skip


def by_name(row: object) -> Line:
    return (str(row.name),)  # type: ignore[attr-defined]


def by_api_name(row: object) -> Line:
    return (re.sub(VERSIONED, "", str(row.name)),)  # type: ignore[attr-defined]


def by_shape(row: object) -> Line:
    return (str(row.name), *(str(int(getattr(row, f"{part}_{axis}"))) for part in ("grid", "block") for axis in "xyz"))


def kind(path: Path, *kinds: str) -> pd.DataFrame:
    frame = rows_of(path)
    return frame[frame["kind"].isin(kinds)]


def printed_csv(path: Path, *names: str) -> Figures:
    """The figures of one CSV report by its text columns; the triples of grid and block as single numbers."""
    found: Figures = {}
    for row in csv.DictReader(path.read_text().splitlines()):
        key = tuple(part for name in names for part in (row[name].split() if name.endswith("XYZ") else [row[name]]))
        found[key] = tuple(
            float(value) for heading, value in row.items() if value and re.search(r"\(\w+\)|Insta|Num|Count", heading)
        )
    return found


def assert_equal(ours: Figures, printed: Figures, scale: float = 1.0, digits: float = 0.05) -> None:
    """To the last printed digit; totals, counts and extremes in ns are whole and equal."""
    assert ours.keys() == printed.keys()
    for name, figures in printed.items():
        mine = [figure / scale if place != 1 else figure for place, figure in enumerate(ours[name])]
        for place, (one, other) in enumerate(zip(mine, figures, strict=True)):
            exact = scale == 1.0 and place in (0, 1, 4, 5)
            assert abs(one - other) <= (0 if exact else digits * 1.000001), (name, place, one, other)


PAIRS = [
    pytest.param(FIXTURE, PRINTED, "amp_fp16", id="fixture"),
    pytest.param(LAB / "amp_fp16.sqlite", LAB / "stats-amp_fp16", "amp_fp16", id="amp_fp16", marks=NEEDS_CAPTURES),
    pytest.param(LAB / "fp32.sqlite", LAB / "stats-fp32", "fp32", id="fp32", marks=NEEDS_CAPTURES),
]


@pytest.mark.parametrize(("export", "folder", "stem"), PAIRS)
def test_summaries_equal_those_of_nsys(export: Path, folder: Path, stem: str) -> None:
    def printed(report: str, *names: str) -> Figures:
        return printed_csv(folder / f"{stem}_{report}.csv", *names)

    memory = kind(export, "memcpy", "memset")
    assert_equal(summary(kind(export, "kernel"), by_name), printed("cuda_gpu_kern_sum", "Name"))
    assert_equal(
        summary(kind(export, "kernel"), by_shape), printed("cuda_gpu_kern_gb_sum", "Name", "GridXYZ", "BlockXYZ")
    )
    assert_equal(summary(kind(export, "api"), by_api_name), printed("cuda_api_sum", "Name"))
    assert_equal(summary(memory, by_name), printed("cuda_gpu_mem_time_sum", "Operation"))
    assert_equal(summary(memory, by_name, "bytes"), printed("cuda_gpu_mem_size_sum", "Operation"), 1e6, 0.0005)
    ranges = summary(kind(export, "range"), lambda row: ("PushPop", str(row.name)))  # type: ignore[attr-defined]
    assert_equal(ranges, printed("nvtx_sum", "Style", "Range"))


@NEEDS_CAPTURES
@pytest.mark.parametrize("stem", ["amp_fp16", "fp32"])
def test_os_runtime_calls_equal_those_of_nsys(stem: str) -> None:
    printed = printed_csv(LAB / f"stats-{stem}/{stem}_osrt_sum.csv", "Name")
    rows = kind(LAB / f"{stem}.sqlite", "osrt")
    assert {(row.name_,): (row.duration, row.count_, row.min, row.max) for row in _renamed(rows)} == {
        name: (figures[0], figures[1], figures[4], figures[5]) for name, figures in printed.items()
    }
    assert all(abs(row.avg - printed[row.name_,][2]) <= 0.0500001 for row in _renamed(rows))


def _renamed(rows: pd.DataFrame) -> Iterable[object]:
    return rows.rename(columns={"name": "name_", "count": "count_"}).itertuples()


# --- row by row against the traces ----------------------------------------------------------------------------------


def _records(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value != value or value == -1 else str(int(value))  # type: ignore[call-overload]


@pytest.mark.parametrize(("export", "folder", "stem"), PAIRS)
def test_gpu_trace_row_by_row(export: Path, folder: Path, stem: str) -> None:
    columns = {
        "Start (ns)": "start", "Duration (ns)": "duration", "CorrId": "correlation", "GrdX": "grid_x", "GrdY": "grid_y",
        "GrdZ": "grid_z", "BlkX": "block_x", "BlkY": "block_y", "BlkZ": "block_z", "Reg/Trd": "registers",
        "Ctx": "context", "Strm": "stream", "Name": "name",
    }  # fmt: skip
    frame = kind(export, "kernel", "memcpy", "memset")
    ours = sorted(zip(*([_cell(value) for value in frame[name]] for name in columns.values()), strict=True))
    records = _records(folder / f"{stem}_cuda_gpu_trace.csv")
    assert ours == sorted(tuple(record[heading] for heading in columns) for record in records)
    places = sorted(zip(frame["start"].astype(int), frame["src_kind"], frame["dst_kind"], strict=True))
    assert places == sorted((int(r["Start (ns)"]), r["SrcMemKd"].lower(), r["DstMemKd"].lower()) for r in records)
    assert set(frame["device"]) == {0}
    assert {record["Device"] for record in records} == {"NVIDIA H200 (0)"}


@pytest.mark.parametrize(("export", "folder", "stem"), PAIRS)
def test_api_trace_row_by_row(export: Path, folder: Path, stem: str) -> None:
    headings = ("Start (ns)", "Duration (ns)", "Name", "CorrID", "Pid", "Tid")
    columns = ("start", "duration", "name", "correlation", "process", "thread")
    frame = kind(export, "api").assign(name=lambda rows: rows["name"].str.replace(VERSIONED, "", regex=True))
    ours = sorted(zip(*([_cell(value) for value in frame[name]] for name in columns), strict=True))
    records = _records(folder / f"{stem}_cuda_api_trace.csv")
    assert ours == sorted(tuple(record[heading] for heading in headings) for record in records)


@pytest.mark.parametrize(("export", "folder", "stem"), PAIRS)
def test_launches_row_by_row(export: Path, folder: Path, stem: str) -> None:
    """Call and queue times, which come from the join of two tables."""
    frame = kind(export, "kernel")
    names = ("start", "duration", "api_duration", "queue_duration")
    ours = sorted(tuple(_cell(value) for value in row) for row in frame[list(names)].to_numpy())
    headings = ("Kernel Start (ns)", "Kernel Dur (ns)", "API Dur (ns)", "Queue Dur (ns)")
    records = _records(folder / f"{stem}_cuda_kern_exec_trace.csv")
    assert ours == sorted(tuple(record[heading] for heading in headings) for record in records)


@pytest.mark.parametrize(("export", "folder", "stem"), PAIRS)
def test_ranges_row_by_row(export: Path, folder: Path, stem: str) -> None:
    frame = kind(export, "range")
    columns = ("start", "duration", "name", "process", "thread")
    ours = sorted(zip(*([_cell(value) for value in frame[name]] for name in columns), strict=True))
    records = _records(folder / f"{stem}_nvtx_pushpop_trace.csv")
    assert ours == sorted(
        tuple(record[heading] for heading in ("Start (ns)", "Duration (ns)", "Name", "PID", "TID"))
        for record in records
    )


@pytest.mark.parametrize(("export", "folder", "stem"), PAIRS)
def test_kernels_in_ranges(export: Path, folder: Path, stem: str) -> None:
    """``nvtx_kern_sum`` counts a kernel in every range around its launch, so in every part of its path."""
    ours: dict[Line, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for row in kind(export, "kernel").itertuples():
        for part in row.nvtx.split("/") if row.nvtx else [""]:
            count, time = ours[part, row.name]
            ours[part, row.name] = count + 1, time + int(row.duration)
    printed: dict[Line, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for record in _records(folder / f"{stem}_nvtx_kern_sum.csv"):
        key = record["NVTX Range"].partition(":")[2], record["Kernel Name"]
        count, time = printed[key]  # one line per thread and domain
        printed[key] = count + int(record["Kern Inst"]), time + int(record["Total Time (ns)"])
    assert ours == printed


# --- the same conclusions as from CSV -------------------------------------------------------------------------------


def analysed(*paths: Path) -> Report:
    return api.analyze(api.load(*paths), Config(min_saving=Threshold(share=0.0)))


def conclusions(report: Report, *, without: frozenset[str] = frozenset()) -> list[object]:
    return [
        (
            finding.rule, finding.confidence, finding.subject.kernel, finding.subject.launches, finding.subject.time_ns,
            pytest.approx(finding.saving.expected_ns, rel=1e-12), pytest.approx(finding.saving.upper_ns, rel=1e-12),
            finding.fingerprint,
        )
        for finding in report.findings
        if finding.rule not in without
    ]  # fmt: skip


def rules_reading(pattern: str) -> frozenset[str]:
    """Rules whose file names one of these facts."""
    folder = Path(__file__).resolve().parents[2] / "rules"
    files = [path for path in folder.rglob("*.yaml") if re.search(pattern, path.read_text())]
    return frozenset(path.relative_to(folder).with_suffix("").as_posix() for path in files)


@pytest.mark.parametrize(("export", "folder", "stem"), PAIRS)
def test_findings_equal_those_of_the_csv_reports(export: Path, folder: Path, stem: str) -> None:
    """Four CSV reports say all that rules read of an export; with the two traces alone some of it is missing.

    Only the export holds: queueing times (as the launch trace), NVTX ranges and with them the steps of the program (as
    the range trace), sizes to the byte, waits, OS runtime calls, clock and bandwidth of the GPU as its driver has them.
    """
    gpu, api_, launches, ranges = (
        folder / f"{stem}_{name}.csv"
        for name in ("cuda_gpu_trace", "cuda_api_trace", "cuda_kern_exec_trace", "nvtx_pushpop_trace")
    )
    ours = analysed(export)
    assert ours.findings
    assert conclusions(ours) == conclusions(analysed(gpu, api_, launches, ranges))
    queue = rules_reading("queue_time")
    assert conclusions(ours, without=queue) == conclusions(analysed(gpu, api_, ranges), without=queue)
    steps = queue | rules_reading("steady_|steps|repeats_per_step")
    few = analysed(gpu, api_)
    assert conclusions(ours, without=steps) == conclusions(few, without=steps)
    for name in ("kernel_ns", "launches", "kernels", "copy_ns", "gpu_busy_ns", "window_ns", "api_ns", "families"):
        assert getattr(ours.totals, name) == getattr(few.totals, name), name


def test_export_and_csv_reports_together_count_once() -> None:
    profile = api.load(PRINTED, FIXTURE)
    frame = profile.activities
    kernels = frame[frame["primary"] & (frame["kind"] == "kernel")]
    assert {profile.sources[source].reader for source in kernels["source"]} == {"nsys_sqlite"}
    counted = frame[frame["primary"]].groupby("kind")["count"].sum()
    assert {name: int(counted[name]) for name in ("kernel", "memcpy", "memset", "api", "range")} == {
        "kernel": 2810, "memcpy": 66, "memset": 196, "api": 8488, "range": 34,
    }  # fmt: skip


def test_the_fixture_holds_nothing_of_the_machine() -> None:
    connection = sqlite3.connect(f"{FIXTURE.as_uri()}?mode=ro&immutable=1", uri=True)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert not tables & {"META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV", "PROCESSES", "ProcessStreams", "ThreadNames"}
    texts = [text for (text,) in connection.execute("SELECT value FROM StringIds")]
    connection.close()
    assert not [text for text in texts if "\x00" in text or text.startswith("/")]
    assert FIXTURE.stat().st_size < 1_000_000


# --- published exports ----------------------------------------------------------------------------------------------

ROW = re.compile(
    r" +[\d.]+ {2,}(?P<total>[\d,]+) +(?P<count>[\d,]+) +(?P<rest>(?:[\d,.]+ +){5})(?P<name>\S.*?) *$", re.MULTILINE
)
SECTION = re.compile(r"(?:Executing '|\[.*?/)(?P<name>\w+)(?:' stats report|\.py\])")
LEGACY = {
    "cudaapisum": "cuda_api_sum", "gpukernsum": "cuda_gpu_kern_sum", "gpumemtimesum": "cuda_gpu_mem_time_sum",
    "nvtxsum": "nvtx_sum", "osrtsum": "osrt_sum",
}  # fmt: skip
CUT = 99
"""Characters of a name in column format before the sign of a cut."""


def printed_text(path: Path) -> dict[str, Figures]:
    """Tables of a log in column format by report; names as far as they are printed."""
    found: dict[str, Figures] = {}
    parts = SECTION.split(path.read_text(errors="replace"))
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        rows = found.setdefault(LEGACY.get(name, name), {})
        for row in ROW.finditer(text):
            total, count, *rest = (
                float(cell.replace(",", "")) for cell in (row["total"], row["count"], *row["rest"].split())
            )
            rows[(row["name"].removeprefix("PushPop").strip()[:CUT],)] = (total, count, *rest)
    return found


def short(key: Callable[[object], Line]) -> Callable[[object], Line]:
    return lambda row: (key(row)[0][:CUT],)


@NEEDS_CORPUS
@pytest.mark.parametrize(
    ("export", "log", "reports"),
    [
        ("resnet50-a100-2025.3.2", "resnet50-a100-profile-stats-2025.3.2.txt", 5),
        ("rtx2080-tile16-2022.1.3", "rtx2080-tile16-stats-2022.1.3.txt", 4),
        ("a100-transpose-2022.1.3", "pbs-job-log-2022.1.3.o213119", 4),
        ("torch-2.7b-compile", "torch-2.7b-compile-stats-2024.6.2.txt", 3),
    ],
)
def test_published_pairs_of_export_and_log(export: str, log: str, reports: int) -> None:
    path, printed = NSYS / f"{export}.sqlite", printed_text(NSYS / log)
    modern = {"HtoD": "Host-to-Device", "DtoH": "Device-to-Host", "DtoD": "Device-to-Device"}

    def memory_key(row: object) -> Line:
        return (re.sub(r"\b\w+to\w\b", lambda way: modern.get(way[0], way[0]), by_name(row)[0]),)

    ours = {
        "cuda_gpu_kern_sum": summary(kind(path, "kernel"), short(by_name)),
        "cuda_api_sum": summary(kind(path, "api"), short(by_api_name)),
        "cuda_gpu_mem_time_sum": summary(kind(path, "memcpy", "memset"), memory_key),
        "nvtx_sum": summary(kind(path, "range"), short(by_name)),
    }
    compared = 0
    for report, figures in ours.items():
        told = {
            (re.sub(r"\b(\w)to(\w)\b", lambda way: modern.get(way[0], way[0]), name[0]),): found
            for name, found in printed.get(report, {}).items()
        }
        if told or figures:
            assert_equal(figures, told)
            compared += 1
    os_calls = {(row.name_,): (row.duration, row.count_, row.min, row.max) for row in _renamed(kind(path, "osrt"))}
    told = printed.get("osrt_sum", {})
    assert os_calls == {name: (found[0], found[1], found[4], found[5]) for name, found in told.items()}
    assert compared + bool(os_calls) == reports


@NEEDS_CORPUS
def test_a_published_trace_row_by_row() -> None:
    frame = kind(NSYS / "b200-int8-algo23.sqlite", "kernel", "memcpy", "memset").sort_values("start")
    records = _records(NSYS / "b200-int8-algo23-gpu_trace.csv")
    names = [record["Name"].rpartition("/")[2] for record in records]
    assert frame["name"].tolist() == names
    assert frame["start"].astype(int).astype(str).tolist() == [record["Start (ns)"] for record in records]
    assert frame["duration"].astype(int).astype(str).tolist() == [record["Duration (ns)"] for record in records]
    prefixes = [record["Name"].rpartition("/")[0] for record in records if not record["Name"].startswith("[CUDA")]
    assert frame.loc[frame["kind"] == "kernel", "nvtx"].tolist() == prefixes == ["ABT_view (forced)"]
    printed = printed_csv(NSYS / "b200-int8-algo23-kern_gb_sum.csv", "Name", "GridXYZ", "BlockXYZ")
    ours = summary(frame[frame["kind"] == "kernel"], by_shape)
    assert list(ours.values()) == [pytest.approx(figures, abs=0.0501) for figures in printed.values()]


DATABASES = sorted(NSYS.glob("*.sqlite"))
WITHOUT_CUDA = {
    "aborted-export-6-tables", "no-gpu-osrt-only-2024.6.2", "v100-no-cuda-data-2022.4.1", "vllm-nocuda-2025.3.2",
}  # fmt: skip
WITHOUT_KERNELS = {"rtx5060-runtime-only-2025.1.3": (1, 897), "wsl2-runtime-only-2023.2.3": (192, 2307)}


@NEEDS_CORPUS
@pytest.mark.parametrize("path", DATABASES, ids=lambda path: path.stem)
def test_published_exports_are_read_whole(path: Path) -> None:
    """Rows and times of every table equal those of plain SQL; nothing is lost but what the profiler lost."""
    if path.stem in WITHOUT_CUDA:
        with pytest.raises(EmptyInput, match="no CUDA activity in this export"):
            api.load(path)
        return
    result = tables_of(path)
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    for table in result.tables:
        if table.source.report == "osrt_sum" or (
            path.stem.startswith("gb10") and table.source.report == "cuda_api_trace"
        ):
            continue
        where = {"nvtx_pushpop_trace": "eventType = 59", "nvtx_startend_trace": "eventType = 60"}
        sql = (
            f'SELECT COUNT(*), SUM("end" - start) FROM {table.source.table} WHERE {where.get(table.source.report, "1")}'  # noqa: S608
        )
        assert connection.execute(sql).fetchone() == (len(table), table.columns["duration"].sum()), table.source.table
    connection.close()
    lost = {issue.text for issue in result.issues if issue.level > 0 and not issue.text.startswith("nsys says")}
    assert len(lost) == (path.stem.startswith("gb10") or path.stem in WITHOUT_KERNELS)
    assert bool(api.load(path).devices) == (path.stem != "h100-2gpu-1s-2026.2.1")


@NEEDS_CORPUS
@pytest.mark.parametrize("stem", WITHOUT_KERNELS)
def test_published_exports_without_kernels(stem: str) -> None:
    launches, calls = WITHOUT_KERNELS[stem]
    result = tables_of(NSYS / f"{stem}.sqlite")
    first = result.tables[0]
    assert (first.source.report, len(first)) == ("cuda_api_trace", calls)
    assert any(f"no kernels were recorded ({launches} launch call" in issue.text for issue in result.issues)
    assert not api.analyze(api.load(NSYS / f"{stem}.sqlite")).findings


@NEEDS_CORPUS
def test_two_processes_with_the_same_correlation_ids() -> None:
    frame = rows_of(NSYS / "ddp-rtx3090x2-nccl-2026.3.1.sqlite")
    kernels = frame[frame["kind"] == "kernel"]
    assert len(kernels) == 4652
    assert kernels["api_duration"].notna().all()
    assert kernels.groupby("device")["process"].unique().map(list).to_dict() == {0: [13096], 1: [13097]}
    assert frame[frame["kind"] == "api"].groupby("process")["device"].unique().map(list).to_dict() == {
        13096: [0], 13097: [1],
    }  # fmt: skip
    assert (
        kernels[kernels["family"] == "collective"]["nvtx"].str.contains("nccl(?:AllReduce|Broadcast|AllGather)").all()
    )


@NEEDS_CORPUS
def test_most_events_dropped() -> None:
    path = NSYS / "gb10-jit-2026.3.1.sqlite"
    texts = [issue.text for issue in tables_of(path).issues if issue.level > 0]
    assert any("dropped: 2737" in text for text in texts)
    assert any("Not all CUDA events might have been collected" in text for text in texts)
    assert any(text.startswith("2,737 of 2,744 kernel launches have no kernel") for text in texts)
    rules = {finding.rule.partition("/")[0] for finding in analysed(path).findings}
    assert not rules & {"idle", "sync", "launch", "transfer", "allocation"}


@NEEDS_CORPUS
def test_time_inside_graphs_is_counted() -> None:
    path = NSYS / "torch-2.7b-compile.sqlite"
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    kernels, graphs = (
        connection.execute(f'SELECT SUM("end" - start) FROM CUPTI_ACTIVITY_KIND_{table}').fetchone()[0]  # noqa: S608
        for table in ("KERNEL", "GRAPH_TRACE")
    )
    connection.close()
    totals = analysed(path).totals
    assert (kernels, totals.families["graph"]) == (78_270, graphs)
    assert totals.kernel_ns == totals.gpu_busy_ns == kernels + graphs > 7.8e9


@NEEDS_CORPUS
def test_unified_memory_migrations() -> None:
    for stem, copies in (("a100x4-um-2022.2.1", 48), ("rtx2080ti-x2-um-2024.4.1", 72), ("rtx4060-um-2023.4.4", 72)):
        frame = kind(NSYS / f"{stem}.sqlite", "memcpy")
        assert len(frame) == copies
        assert set(frame["direction"]) == {"unified"}
        assert np.isfinite(frame["bytes"]).all()
