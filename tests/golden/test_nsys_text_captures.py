"""What nsys prints for people against its CSV, against made content, and published logs against plain sums."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.errors import InputError
from nsight_insight.model.finding import Report
from nsight_insight.model.profile import Profile, Table
from nsight_insight.readers import nsys_csv, nsys_text, read
from nsight_insight.readers.text import open_path
from tests.paths import CAPTURES, CORPUS, FIXTURES
from tests.tools import make_nsys_text as made

TEXT, CSV = FIXTURES / "nsys-text/2025.3-h200-amp", FIXTURES / "nsys-csv/2025.3-h200-amp"
FIGURES = ("duration", "count", "avg", "median", "min", "max", "std")


def tables(path: Path) -> list[Table]:
    return read(open_path(path)).tables


def csv_of(report: str) -> Table:
    (table,) = nsys_csv.read(open_path(CSV / f"amp_fp16_{report}.csv")).tables
    return table


def assert_same(found: Table, true: Table, *, cut: bool) -> None:
    """Every figure, and the names as far as they were printed."""
    assert found.source.report == true.source.report
    assert found.columns.keys() == true.columns.keys()
    for name in true.columns.keys() - {"line", "name"}:
        np.testing.assert_array_equal(found.columns[name], true.columns[name], err_msg=name)
    for printed, whole in zip(found.columns["name"], true.columns["name"], strict=True):
        assert printed == whole if not (cut and len(whole) > 100) else whole.startswith(printed[:-1])


# --- this project's own capture -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kern.tsv", "kern.json"])
def test_tsv_and_json_hold_what_csv_holds(name: str) -> None:
    (found,) = tables(TEXT / name)
    assert_same(found, csv_of("cuda_gpu_kern_sum"), cut=False)


def test_columns_hold_what_csv_holds() -> None:
    found = tables(TEXT / "default_columns.txt")
    assert [table.source.report for table in found] == [
        "nvtx_sum", "osrt_sum", "cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
    ]  # fmt: skip
    for table in found:
        assert_same(table, csv_of(table.source.report), cut=True)
        assert table.source.banners


def test_boxes_hold_what_csv_holds() -> None:
    """Three times the same launches: by base name, by mangled name, and by range and name."""
    true = csv_of("cuda_gpu_kern_sum").columns
    base, mangled, ranges = tables(TEXT / "kern_tables.txt")
    for name in FIGURES:
        np.testing.assert_array_equal(mangled.columns[name], true[name], err_msg=name)
    for table in (base, ranges):
        assert table.columns["count"].sum() == true["count"].sum() == 2810
        assert table.columns["duration"].sum() == true["duration"].sum() == 40_079_365
    assert [len(table) for table in (base, mangled, ranges)] == [38, 55, 62]


def findings(report: Report) -> list[tuple[str, str, str, int, float, float, str]]:
    return [
        (f.rule, f.severity, f.confidence, f.subject.launches, f.saving.expected_ns, f.saving.upper_ns, f.message)
        for f in report.findings
    ]


def test_findings_are_those_of_the_csv() -> None:
    true = findings(api.analyze(api.load(CSV / "amp_fp16_cuda_gpu_kern_sum.csv")))
    assert true
    for name in ("kern.tsv", "kern.json"):
        assert findings(api.analyze(api.load(TEXT / name))) == true, name


@pytest.mark.parametrize("name", ["default_columns.txt", "kern_tables.txt"])
def test_cut_names_say_less_and_nothing_else(name: str) -> None:
    """Casts and layout changes whose types are behind the cut are not found; what is found has the same figures."""
    true = {f[0]: f for f in findings(api.analyze(api.load(CSV / "amp_fp16_cuda_gpu_kern_sum.csv")))}
    report = api.analyze(api.load(TEXT / name))
    found = {f[0]: f for f in findings(report)}
    assert found["launch/per-parameter-optimizer"] == true["launch/per-parameter-optimizer"]
    for rule, finding in found.items():
        if rule in true:
            assert finding[4] <= true[rule][4], rule
        else:
            assert finding[1] == "note", rule
    assert any("cut" in issue.text for issue in report.issues)


def test_a_folder_of_all_forms_counts_every_launch_once() -> None:
    profile = api.load(TEXT, CSV / "amp_fp16_cuda_gpu_trace.csv")
    frame = profile.activities
    kernels = frame[frame["primary"] & (frame["kind"] == "kernel")]
    assert (kernels["count"].sum(), kernels["duration"].sum()) == (2810, 40_079_365)
    copies = frame[frame["primary"] & (frame["kind"] == "memcpy")]
    assert (copies["count"].sum(), copies["duration"].sum()) == (66, 47_831_323)


def test_rules_of_analyze() -> None:
    profile = api.load(TEXT / "analyze.txt")
    assert {(f.rule, f.kind, f.location.line) for f in profile.vendor} == {
        ("cuda_memcpy_async", "OPT", 11), ("cuda_memcpy_sync", "INF", 69), ("cuda_memset_sync", "INF", 75),
        ("cuda_api_sync", "OPT", 91), ("gpu_gaps", "OPT", 160), ("gpu_time_util", "OPT", 178),
    }  # fmt: skip
    assert all(f.tool == "nsys" and "%%" not in f.text for f in profile.vendor)
    trace = csv_of("cuda_gpu_trace").columns
    true = {
        (s, d) for s, d, kind in zip(trace["start"], trace["duration"], trace["kind"], strict=True) if kind == "memcpy"
    }
    frame = profile.activities
    copies = frame[frame["kind"] == "memcpy"]
    assert len(copies) == 50
    assert set(zip(copies["start"], copies["duration"], strict=True)) <= true
    assert not frame["primary"].any()
    assert api.analyze(profile).findings == ()


@pytest.mark.skipif(not CAPTURES.exists(), reason="needs the captures")
@pytest.mark.parametrize("name", ["kern.tsv", "kern.json", "default_columns.txt", "kern_tables.txt"])
def test_the_other_capture_gives_the_same_findings(name: str) -> None:
    """In FP32 no finding hangs on what nsys cuts off."""
    folder = CAPTURES / "h200-amp/nsys/stats-fp32"
    true = findings(api.analyze(api.load(folder / "fp32_cuda_gpu_kern_sum.csv")))
    assert findings(api.analyze(api.load(folder / name))) == true


# --- made content ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", made.FILES)
def test_the_generator_writes_the_fixtures(name: str) -> None:
    assert (made.FOLDER / name).read_bytes().decode() == "\n".join(made.FILES[name]()) + "\n"


def assert_summary(table: Table, items: tuple[made.Item, ...], *, step: float = 0.0) -> None:
    ordered = sorted(items, key=lambda item: -sum(item.times))
    for column, of in (("duration", sum), ("min", min), ("max", max)):
        true = [of(item.times) for item in ordered]
        np.testing.assert_allclose(table.columns[column], true, rtol=0, atol=step)
    assert table.columns["count"].tolist() == [len(item.times) for item in ordered]
    np.testing.assert_allclose(table.columns["avg"], [np.mean(item.times) for item in ordered], atol=max(step, 0.051))


def test_the_oldest_layout() -> None:
    calls, kernels, copies = tables(made.FOLDER / "profile-stats-2019.5.txt")
    assert_summary(calls, made.CALLS)
    assert_summary(kernels, made.KERNELS)
    assert_summary(copies, made.COPIES)
    assert kernels.columns["name"].tolist() == [made.LONG, "", made.KERNELS[2].name]
    assert kernels.source.version == "2019.5.2"


def test_a_german_log_of_2021() -> None:
    result = nsys_text.read(open_path(made.FOLDER / "job-2021-german.log"))
    calls, kernels, copies, sizes, trace = result.tables
    assert_summary(calls, made.CALLS)
    assert_summary(kernels, made.KERNELS)
    assert_summary(copies, made.COPIES)
    np.testing.assert_allclose(sizes.columns["bytes"], [sum(item.sizes) for item in made.COPIES], atol=0.51 * 1.024)
    times = [time for item in (*made.COPIES, made.KERNELS[1]) for time in item.times]
    assert trace.columns["duration"].tolist() == times
    assert trace.columns["bytes"][:4].tolist() == [size for item in made.COPIES for size in item.sizes]
    assert trace.columns["grid_x"][4] == 65_535
    assert "start" not in trace.columns
    assert [i.location.line for i in result.issues if i.level.label == "data-loss"] == [trace.columns["line"][0] - 2]


def test_milliseconds() -> None:
    (kernels,) = tables(made.FOLDER / "stats-2022.4-msec.txt")
    assert kernels.source.report == "cuda_gpu_kern_gb_sum"
    assert kernels.source.version == "2022.4.2"
    assert_summary(kernels, made.KERNELS, step=50.0)
    assert kernels.columns["grid_x"].tolist() == [125_000.0] * 3


def test_two_ranks_in_one_french_log() -> None:
    result = nsys_text.read(open_path(made.FOLDER / "two-ranks-2024-french.out"))
    ranges, calls, first, _, _, second = result.tables
    assert_summary(ranges, made.RANGES)
    assert ranges.columns["_style"].tolist() == ["PushPop"] * 2
    assert_summary(calls, made.CALLS)
    assert_summary(first, made.KERNELS)
    assert_summary(second, made.KERNELS[:2])
    assert [i.text for i in result.issues if "cut" not in i.text] == [
        "nsys found no GPU memory data in the capture: unknown, not zero"
    ]


def test_tables_in_a_document() -> None:
    result = nsys_text.read(open_path(made.FOLDER / "notes-2024.md"))
    kernels, calls, copies = result.tables
    assert_summary(kernels, made.KERNELS)
    assert_summary(calls, made.CALLS)
    assert_summary(copies, made.COPIES[:1])
    assert [i.level.label for i in result.issues if i.location.line == copies.columns["line"][0] + 1] == ["data-loss"]


def test_html() -> None:
    (kernels,) = tables(made.FOLDER / "kern_sum-2024.html")
    assert_summary(kernels, made.KERNELS)
    assert kernels.columns["name"].tolist() == [item.name for item in made.KERNELS]


# --- published files ------------------------------------------------------------------------------------------------

PUBLISHED: dict[str, tuple[str, int]] = {
    "a100-gputrace-nvprof-wrapper.log": ("gpu_trace", 0),
    "analyze-2025.3.2.txt": ("memcpy_sync api_sync gpu_time_util memcpy_async gpu_gaps", 1),
    "cutlass-log-2024.log": ("api kern time size", 0),
    "european-locale-2021-kmeans.txt": ("5*(api kern time size gpu_trace)", 5),
    "fsdp-2rank-stats-2024.7.1.txt": ("nvtx osrt api kern time size", 0),
    "gpukernsum-gridxyz-a100-2022.txt": ("nvtx api kern_gb time size", 0),
    "julia-clima-baseline-2025.3.2.out": ("nvtx osrt api kern time size", 0),
    "kernsum-many-reports-spaces-in-path.txt": ("7*(kern time)", 0),
    "mlora-2node-head-profile-stats.txt": ("nvtx osrt api kern time size", 0),
    "mpi8-cori-2021-run.out": ("8*(api kern time size)", 0),
    "nsys-nvprof-gpu_trace-greenctx-rtx3060.txt": ("gpu_trace", 0),
    "nsys-nvprof-wrapper-hopper.txt": ("nvtx api kern time size", 0),
    "pbs-job-log-2022.1.3.o213119": ("osrt api kern time size", 0),
    "profile-stats-2019.5.2.txt": ("api kern time size", 0),
    "rag-cccl-profile-stats-8.txt": ("nvtx osrt api kern time size", 0),
    "resnet50-a100-profile-stats-2025.3.2.txt": ("nvtx osrt api kern time size", 0),
    "rtx2080-tile16-stats-2022.1.3.txt": ("osrt api kern time size", 0),
    "rtx6000-all-skipped-2025.6.1.txt": ("osrt", 0),
    "stats-2021-average-headings.txt": ("4*(osrt) api kern time size", 0),
    "stats-timeunit-ms-2022.4.2.txt": ("osrt api kern_gb time size", 0),
    "torch-2.7b-compile-stats-2024.6.2.txt": ("osrt api kern", 0),
    "torch-2.7b-stats-2024.6.2.txt": ("osrt api kern time size", 0),
    "torch-forward-kern_sum-2026.1.1.txt": ("kern", 0),
    "torch-trainstep-kern_sum-nvtxname-base-2026.1.1.txt": ("kern", 0),
    "two-eras-cub-kernsum-2020.txt": ("2*(kern)", 0),
    "vector-add-readme-console-captures.md": ("5*(nvtx osrt api kern time size)", 0),
}
"""File -> tables in it (short names; ``5*(...)``: in each of five runs) and issues of data loss."""
SHORT = {
    "gpu_trace": "cuda_gpu_trace", "memcpy_sync": "cuda_memcpy_sync", "api_sync": "cuda_api_sync",
    "gpu_time_util": "gpu_time_util", "memcpy_async": "cuda_memcpy_async", "gpu_gaps": "gpu_gaps",
    "api": "cuda_api_sum", "kern": "cuda_gpu_kern_sum", "kern_gb": "cuda_gpu_kern_gb_sum",
    "time": "cuda_gpu_mem_time_sum", "size": "cuda_gpu_mem_size_sum", "nvtx": "nvtx_sum", "osrt": "osrt_sum",
}  # fmt: skip
NEEDS_CORPUS = pytest.mark.skipif(not (CORPUS / "nsys").exists(), reason="needs the folder of published files")


def expected_tables(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for times, group, single in re.findall(r"(\d+)\*\(([^)]*)\)|(\w+)", text):
        found.update({SHORT[word]: int(times or 1) for word in (group or single).split()})
    return found


@NEEDS_CORPUS
def test_every_published_text_has_an_expected_status() -> None:
    others = (".csv", ".sqlite", ".tsv")
    assert {path.name for path in (CORPUS / "nsys").iterdir() if path.suffix not in others} == PUBLISHED.keys()


@NEEDS_CORPUS
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_texts_are_read(name: str) -> None:
    result = read(open_path(CORPUS / "nsys" / name))
    wanted, lost = PUBLISHED[name]
    assert Counter(table.source.report for table in result.tables) == expected_tables(wanted)
    assert {table.source.reader for table in result.tables} == {"nsys_text"}
    losses = [issue for issue in result.issues if issue.level.label == "data-loss"]
    assert len(losses) == lost, losses
    api.analyze(api.load(CORPUS / "nsys" / name))


PERCENT = re.compile(r"\s*\d{1,3}[.,]\d\s+(?P<time>\d[\d.,]*)\s+(?P<count>\d[\d.,]*)\s+\d[\d.,]*\s+\d[\d.,]*\s+\d")
"""A row of any summary with times: share, total, count, and three figures more at least."""


def summary_lines(path: Path) -> Iterator[tuple[float, int]]:
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        if found := PERCENT.match(line.rpartition("\r")[2]):
            milliseconds = "timeunit-ms" in path.name
            time = float(found["time"]) * 1e6 if milliseconds else float(re.sub("[.,]", "", found["time"]))
            yield time, int(re.sub("[.,]", "", found["count"]))


SUMMED = sorted(PUBLISHED.keys() - {"a100-gputrace-nvprof-wrapper.log", "analyze-2025.3.2.txt",
                                    "nsys-nvprof-gpu_trace-greenctx-rtx3060.txt"})  # fmt: skip


@NEEDS_CORPUS
@pytest.mark.parametrize("name", SUMMED)
def test_sums_of_published_summaries(name: str) -> None:
    """Rows, launches and time against the second and third figure of every line that begins like a row."""
    path = CORPUS / "nsys" / name
    true = list(summary_lines(path))
    timed = [t for t in tables(path) if "duration" in t.columns and t.source.report != "cuda_gpu_trace"]
    assert sum(map(len, timed)) == len(true) > 0
    assert sum(t.columns["count"].sum() for t in timed) == sum(count for _, count in true)
    assert sum(t.columns["duration"].sum() for t in timed) == pytest.approx(sum(time for time, _ in true), rel=1e-12)


TRACED = {
    "a100-gputrace-nvprof-wrapper.log": re.compile(r" *\d+ +(\d+) +\d+ "),
    "nsys-nvprof-gpu_trace-greenctx-rtx3060.txt": re.compile(r" *[\d,]+ +([\d,]+) +\d+ "),
    "european-locale-2021-kmeans.txt": re.compile(r" +\d,000000 +([\d.]+) +[\d.]+ "),
}


@NEEDS_CORPUS
@pytest.mark.parametrize("name", TRACED)
def test_sums_of_published_traces(name: str) -> None:
    lines = (CORPUS / "nsys" / name).read_text(encoding="utf-8", errors="replace").split("\n")
    true = [int(re.sub("[.,]", "", found[1])) for line in lines if (found := TRACED[name].match(line))]
    traces = [t for t in tables(CORPUS / "nsys" / name) if t.source.report == "cuda_gpu_trace"]
    assert sum(map(len, traces)) == len(true) > 0
    assert sum(t.columns["duration"].sum() for t in traces) == sum(true)


@NEEDS_CORPUS
def test_a_log_against_the_database_of_its_run() -> None:
    """The console of a run and the export of the same run: nothing is counted twice, whichever is read."""
    names = ("resnet50-a100-profile-stats-2025.3.2.txt", "resnet50-a100-2025.3.2.sqlite")

    def kernels(profile: Profile) -> tuple[int, float]:
        frame = profile.activities
        rows = frame[frame["primary"] & (frame["kind"] == "kernel")]
        return int(rows["count"].sum()), float(rows["duration"].sum())

    log, both = api.load(CORPUS / "nsys" / names[0]), api.load(*(CORPUS / "nsys" / name for name in names))
    assert kernels(log) == kernels(both)


@NEEDS_CORPUS
@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("part", [0.3, 0.7])
def test_published_texts_may_end_anywhere(name: str, part: float) -> None:
    data = (CORPUS / "nsys" / name).read_bytes()
    try:
        result = nsys_text.read(nsys_text.SourceText(name, data[: int(len(data) * part)]))
    except InputError:
        return
    whole = sum(map(len, tables(CORPUS / "nsys" / name)))
    assert sum(map(len, result.tables)) <= whole
