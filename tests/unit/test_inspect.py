"""What an inspection says about captures: against the files themselves, and what it warns of."""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nsight_insight import api
from nsight_insight.catalog.metrics import load_metrics, metric_index
from nsight_insight.config import Config
from nsight_insight.errors import UsageError
from nsight_insight.inspection import inspect
from nsight_insight.inspection.cautions import CHECKS, cautions
from nsight_insight.inspection.metrics import held_metrics
from nsight_insight.model.inspection import WEIGHT_ORDER, InspectedFile, Inspection
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import Device, Profile
from nsight_insight.readers.text import SourceText
from nsight_insight.rules.loader import load_rules
from nsight_insight.rules.unseen import NO_KERNELS, NO_NSYS, NO_ORDER
from nsight_insight.views.build import build_all
from tests.containers import tarred
from tests.paths import CAPTURES, CORPUS, FIXTURES
from tests.unit.make_profile import make_profile

NCU = FIXTURES / "ncu-csv/2025.3.1-h200-amp"
NSYS = FIXTURES / "nsys-csv/2025.3-h200-amp"
H200 = Device(0, "NVIDIA H200", cc=9.0, sm_count=132)


def one(path: Path) -> InspectedFile:
    [file] = inspect(path).files
    return file


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- files, against the files themselves ------------------------------------------------------------------------------


def test_an_ncu_page() -> None:
    file = one(NCU / "raw.csv")
    rows = rows_of(NCU / "raw.csv")[1:]
    assert (file.tool, file.reader, file.error) == ("ncu", "ncu_csv", "")
    assert file.what == "Nsight Compute, raw page"
    assert file.launches == len(rows) == 60
    assert file.kernels == len({row["Kernel Name"] for row in rows})
    assert file.kernel_ns == 296_832
    assert [(device.name, device.cc, device.sm_count) for device in file.devices] == [("NVIDIA H200", 9.0, 132)]
    assert file.window_ns is None


def test_columns_are_known_or_not_used() -> None:
    [table] = one(NCU / "raw.csv").tables
    names = set(rows_of(NCU / "raw.csv")[0])
    assert {"sm_throughput", "dram_bytes", "registers"} <= set(table.known)
    assert set(table.unknown) < names
    assert not set(table.unknown) & set(metric_index())
    assert "sm__throughput.max.pct_of_peak_sustained_elapsed" in table.unknown


def test_a_trace() -> None:
    path = NSYS / "amp_fp16_cuda_gpu_trace.csv"
    file = one(path)
    rows = [row for row in rows_of(path) if row["GrdX"]]
    every = rows_of(path)
    first = min(int(row["Start (ns)"]) for row in rows)
    last = max(int(row["Start (ns)"]) + int(row["Duration (ns)"]) for row in every)
    assert file.launches == len(rows) == 2810
    assert file.kernel_ns == sum(int(row["Duration (ns)"]) for row in rows)
    assert file.kernels == len({row["Name"] for row in rows})
    assert file.window_ns == pytest.approx(last - first)
    assert file.what == "Nsight Systems, CUDA GPU Trace (cuda_gpu_trace)"


def test_copies_without_a_grid_are_no_gap() -> None:
    [table] = one(NSYS / "amp_fp16_cuda_gpu_trace.csv").tables
    assert table.gaps == ()


def test_several_tables_in_one_file() -> None:
    file = one(NSYS / "default_stdout.csv")
    assert len(file.tables) > 3
    assert f"{len({table.report for table in file.tables})} reports" in file.what
    assert file.launches == 2810


def test_members_of_archives_are_files(tmp_path: Path) -> None:
    archive = tmp_path / "run.tar.gz"
    kernels, calls = ((NSYS / f"amp_fp16_{name}_sum.csv").read_bytes() for name in ("cuda_gpu_kern", "cuda_api"))
    archive.write_bytes(gzip.compress(tarred({"k.csv": kernels, "a.csv": calls, "notes.txt": b"hello\n"})))
    found = inspect(archive)
    assert [file.path for file in found.files] == [f"{archive}!k.csv", f"{archive}!a.csv"]
    assert any("notes.txt" in issue.location.path for issue in found.issues)


@pytest.mark.parametrize(
    ("name", "data", "error", "advice"),
    [
        ("lfs.ncu-rep", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull", ""),
        ("x.csv", b"hello\nworld\n", "'hello'", ""),
        ("x.bin", bytes(range(256)) * 4, "", ""),
        ("empty.csv", b"", "empty", ""),
        ("ncu.csv", b"==PROF== Connected to process 1\n==WARNING== No kernels were profiled.\n", "filters", ""),
        ("old.nvvp", bytes(2000) + b"x", "", "nvprof --import-profile old.nvvp"),
    ],
)
def test_unreadable_files(name: str, data: bytes, error: str, advice: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    found = inspect(tmp_path / name)
    [file] = found.files
    assert file.what == "not readable"
    assert file.error
    assert error in file.error
    assert advice in file.advice
    assert not found.rules


def test_a_missing_file() -> None:
    [file] = inspect("absent.csv").files
    assert "No such file" in file.error


def test_a_readable_file_beside_an_unreadable_one(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("hello\n", encoding="utf-8")
    found = inspect(NCU / "raw.csv", tmp_path / "x.csv")
    assert [bool(file.error) for file in found.files] == [False, True]
    assert found.rules


def test_lost_rows_are_told_with_their_file(tmp_path: Path) -> None:
    text = (NSYS / "amp_fp16_cuda_gpu_kern_sum.csv").read_text(encoding="utf-8").splitlines()
    text[3] = text[3][: len(text[3]) // 3]
    (tmp_path / "k.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    file = one(tmp_path / "k.csv")
    assert [issue.location.line for issue in file.issues if issue.level is Level.DATA_LOSS] == [4]


def test_no_path_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no input given"):
        inspect()
    with pytest.raises(UsageError, match="unknown or ambiguous GPU"):
        inspect(NCU / "raw.csv", gpu="H2000")


@pytest.mark.parametrize(
    "path", sorted(path for path in FIXTURES.glob("*/*/*") if path.is_file() and path.suffix != ".md"), ids=str
)
def test_every_fixture_can_be_inspected(path: Path) -> None:
    found = inspect(path)
    assert found.files
    loaded = [file for file in found.files if not file.error and not file.advice]
    if loaded and any(file.launches for file in loaded):
        assert found.rules
        totals = api.analyze(api.load(path)).totals
        assert sum(file.launches for file in loaded) >= totals.launches


# --- rules ------------------------------------------------------------------------------------------------------------


def verdicts(found: Inspection) -> dict[str, str]:
    return {status.rule: status.verdict for status in found.rules}


def test_every_rule_has_one_status() -> None:
    for paths in ([NCU / "raw.csv"], [NSYS / "amp_fp16_cuda_gpu_trace.csv"], [NSYS / "amp_fp16_cuda_api_sum.csv"]):
        found = inspect(*paths)
        enabled = [rule.id for rule in load_rules().values() if rule.status != "deprecated"]
        assert [status.rule for status in found.rules] == sorted(enabled)


@pytest.mark.parametrize(
    "name", ["ncu-csv/2025.3.1-h200-amp/raw.csv", "ncu-csv/2025.3.1-h200-amp/live_mixed.csv", "demo"]
)
def test_what_the_analysis_lacks_the_inspection_names(name: str) -> None:
    found, report = inspect(FIXTURES / name), api.analyze(api.load(FIXTURES / name))
    lacking = {rule for rule, verdict in verdicts(found).items() if verdict in ("partly", "lacking")}
    assert {gap.rule for gap in report.not_evaluated} <= lacking
    judged = {rule for rule, verdict in verdicts(found).items() if verdict in ("judged", "partly")}
    assert {finding.rule for finding in report.findings} <= judged


def test_metrics_are_missing_from_a_trace() -> None:
    found = inspect(FIXTURES / "demo")
    status = next(status for status in found.rules if status.rule == "memory/dram-bandwidth-bound")
    assert status.verdict == "lacking"
    assert "Nsight Compute" in status.reason
    assert found.collect[0].startswith("ncu ")


def test_order_is_missing_from_a_summary() -> None:
    found = inspect(NSYS / "amp_fp16_cuda_gpu_kern_sum.csv")
    reasons = {status.rule: status.reason for status in found.rules}
    assert reasons["precision/cast-ping-pong"] == NO_ORDER
    assert any("cuda_gpu_trace" in command for command in found.collect)


def test_the_host_is_missing_from_an_ncu_page() -> None:
    reasons = {status.rule: status.reason for status in inspect(NCU / "raw.csv").rules}
    assert reasons["launch/elementwise-chain"] == NO_NSYS


def test_without_kernels_nothing_is_judged() -> None:
    found = inspect(NSYS / "amp_fp16_cuda_api_sum.csv")
    assert {status.verdict for status in found.rules} == {"lacking"}
    assert {status.reason for status in found.rules} == {NO_KERNELS}
    assert found.collect[0].startswith("nsys profile")


def test_judged_time() -> None:
    found = inspect(NCU / "raw.csv")
    shares = {status.rule: status.time_share for status in found.rules}
    assert shares["memory/dram-bandwidth-bound"] == pytest.approx(1.0)
    assert all(0.0 <= share <= 1.0 for share in shares.values())


def test_a_choice_of_rules() -> None:
    found = inspect(NCU / "raw.csv", config=Config(select=("memory/*",)))
    assert {status.rule.partition("/")[0] for status in found.rules} == {"memory"}


# --- cautions: each fires where it should, and is silent on a plain capture -------------------------------------------


def warned(profile: Profile) -> dict[str, str]:
    return {caution.id: caution.weight for caution in cautions(profile, build_all(profile))}


def kernel(name: str = "sgemm", **more: Any) -> dict[str, Any]:
    return {"name": name, "duration": 1e6, "device": 0, **more}


def trace(count: int = 100, **more: Any) -> list[dict[str, Any]]:
    """A busy device: kernels back to back."""
    return [kernel(start=number * 1e6, **more) for number in range(count)]


def with_source(profile: Profile, number: int = 0, **changes: Any) -> Profile:
    sources = list(profile.sources)
    sources[number] = replace(sources[number], **changes)
    return replace(profile, sources=tuple(sources))


def plain() -> Profile:
    return make_profile(trace(), devices=[H200], report="cuda_gpu_trace")


def metered(clock: float = 1.95e9, count: int = 20, device: Device = H200, **more: Any) -> Profile:
    rows = [kernel(sm_clock=clock, duration=1e5, correlation=n, **more) for n in range(count)]
    return make_profile(ncu=rows, devices=[device])


def test_plain_captures_have_no_cautions() -> None:
    assert warned(plain()) == {}
    assert warned(metered()) == {}


H100 = Device(0, "NVIDIA H100 PCIe", cc=9.0, sm_count=114, sm_clock_hz=1.755e9)
DIAGNOSTIC = Location("x.sqlite", 3, table="DIAGNOSTIC_EVENT")
STALE = "NOTICE: Existing SQLite export found: x.sqlite"
CLOCKS = "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be"
CACHES = "==WARNING== Note: Running with uncontrolled GPU caches. Profiling results may be inconsistent."


def lost(text: str) -> Profile:
    return replace(plain(), issues=(Issue(Level.DATA_LOSS, text, DIAGNOSTIC),))


def steps(warm_up: float) -> Profile:
    """Five marked steps, the first of which takes ``warm_up`` ns longer."""
    rows = []
    for number in range(5):
        for place in range(20):
            start = number * 2e7 + place * 1e6 + (warm_up if number else 0)
            rows.append(kernel(f"k{place}", start=start, nvtx=f"step {number}"))
    return make_profile(rows, devices=[H200], report="cuda_gpu_trace")


def two_tables(**second: Any) -> Profile:
    """Kernels of two nsys tables, both primary."""
    profile = plain()
    frame = profile.activities.copy()
    frame.loc[50:, "source"] = 1
    other = replace(profile.sources[0], path="other.csv", first_row=50, rows=50, **second)
    return replace(profile, sources=(replace(profile.sources[0], rows=50), other), activities=frame)


Case = tuple[str, str, Callable[[], Profile]]
CASES: Sequence[Case] = (
    ("clocks-base", "doubt", lambda: metered(1.10e9, device=H100)),
    ("clocks-low", "doubt", lambda: metered(1.20e9)),
    ("clocks-unlocked", "note", lambda: with_source(metered(), banners=(CLOCKS,))),
    ("caches-uncontrolled", "note", lambda: with_source(metered(), banners=(CACHES,))),
    ("replays", "note", lambda: with_source(metered(), facts={"replay_passes": 34.0})),
    ("few-profiled", "note", lambda: metered(count=3)),
    ("no-kernels", "invalid", lambda: make_profile([{"kind": "api", "name": "cudaLaunchKernel", "duration": 5.0}])),
    ("events-lost", "invalid", lambda: lost("nsys says: Number of incomplete CUPTI events dropped: 2737.")),
    ("events-lost", "doubt", lambda: lost("nsys says: Not all CUDA events might have been collected.")),
    ("stale-export", "doubt", lambda: with_source(plain(), banners=(STALE,))),
    ("overhead", "note", lambda: with_source(plain(), facts={"overhead_ns": 1e7})),
    ("overhead", "doubt", lambda: with_source(plain(), facts={"overhead_ns": 3e7})),
    ("start-up", "note", lambda: steps(5e8)),
    ("idle", "doubt", lambda: make_profile([kernel(start=n * 4e6) for n in range(60)], devices=[H200],
                                           report="cuda_gpu_trace")),
    ("module-loading", "note", lambda: make_profile(
        [*trace(), {"kind": "api", "name": "cuModuleLoadData", "start": 0.0, "duration": 4e7}], devices=[H200],
        report="cuda_gpu_trace")),
    ("few-launches", "doubt", lambda: make_profile(trace(7), devices=[H200], report="cuda_gpu_trace")),
    ("few-steps", "doubt", lambda: make_profile(trace(nvtx="step 0"), devices=[H200], report="cuda_gpu_trace")),
    ("whole-graphs", "doubt", lambda: make_profile(
        [*trace(), kernel("graph 1", kind="graph", start=1e8, duration=5e7)], devices=[H200], report="cuda_gpu_trace")),
    ("summaries", "note", lambda: make_profile([kernel(count=100)], devices=[H200])),
    ("unknown-kernels", "note", lambda: make_profile(
        [kernel("zzz", start=n * 1e6) for n in range(100)], devices=[H200], report="cuda_gpu_trace")),
    ("gpu-unknown", "doubt", lambda: replace(plain(), devices=())),
    ("gpu-unknown", "doubt", lambda: replace(plain(), devices=(Device(0, "NVIDIA Z9000"),))),
    ("mig", "note", lambda: replace(plain(), devices=(Device(0, "NVIDIA H100 80GB HBM3 MIG 1g.10gb"),))),
    ("mig", "doubt", lambda: replace(plain(), devices=(replace(H200, sm_count=60),))),
    ("several-gpus", "note", lambda: make_profile(
        [*trace(), *trace(device=1)], devices=[H200, replace(H200, index=1)], report="cuda_gpu_trace")),
    ("added-up", "doubt", two_tables),
    ("two-programs", "invalid", lambda: two_tables(tool="ncu")),
    ("several-processes", "note", lambda: make_profile(
        [*trace(process=1), *trace(process=2)], devices=[H200], report="cuda_gpu_trace")),
    ("metered-share", "note", lambda: make_profile(
        [*trace(), *trace(10, name="reduce_kernel")], ncu=[kernel("reduce_kernel", sm_throughput=0.5)] * 12,
        devices=[H200], report="cuda_gpu_trace")),
)  # fmt: skip


@pytest.mark.parametrize(("name", "weight", "make"), CASES, ids=[f"{name}-{weight}" for name, weight, _ in CASES])
def test_caution(name: str, weight: str, make: Callable[[], Profile]) -> None:
    found = warned(make())
    assert found.get(name) == weight, found


def test_every_check_is_tested() -> None:
    assert len({name for name, _, _ in CASES}) >= len(CHECKS)


def test_thresholds_are_not_crossed() -> None:
    assert "overhead" not in warned(with_source(plain(), facts={"overhead_ns": 4e6}))
    assert "replays" not in warned(with_source(metered(), facts={"replay_passes": 1.0}))
    assert "clocks-low" not in warned(metered(1.75e9))
    assert "start-up" not in warned(steps(5e6))
    assert "mig" not in warned(plain())


def test_the_worst_comes_first() -> None:
    found = inspect(NSYS / "amp_fp16_cuda_api_sum.csv", NCU / "live_mixed.csv").cautions
    weights = [WEIGHT_ORDER[caution.weight] for caution in found]
    assert weights == sorted(weights)


def test_real_live_run_says_its_clocks_were_not_locked() -> None:
    assert "clocks-unlocked" in {caution.id for caution in inspect(NCU / "live_mixed.csv").cautions}


def test_real_report_says_how_often_launches_ran() -> None:
    [caution] = [caution for caution in inspect(NCU / "raw.csv").cautions if caution.id == "replays"]
    passes = max(float(row["profiler__replayer_passes"]) for row in rows_of(NCU / "raw.csv")[1:])
    assert f"up to {passes:.0f} times" in caution.text


@pytest.mark.skipif(not CAPTURES.exists(), reason="captures are not here")
def test_overhead_and_driver_of_a_database() -> None:
    path = CAPTURES / "h200-amp/nsys/amp_fp16.sqlite"
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    [(first, last)] = database.execute('SELECT MIN("start"), MAX("end") FROM CUPTI_ACTIVITY_KIND_KERNEL')
    spans = database.execute('SELECT "start", "end" FROM PROFILER_OVERHEAD').fetchall()
    [(driver,)] = database.execute("SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'NvDriverVersion'")
    database.close()
    inside = sum(min(end, last) - max(start, first) for start, end in spans if end > first and start < last)
    assert api.load(path).sources[0].facts == {"driver": driver, "overhead_ns": float(inside)}
    found = inspect(path)
    assert found.files[0].driver == driver
    assert "overhead" in {caution.id for caution in found.cautions}


@pytest.mark.skipif(not CORPUS.exists(), reason="other people's files are not here")
@pytest.mark.parametrize(
    ("file", "cautions_"),
    [
        ("nsys/gb10-jit-2026.3.1.sqlite", {"events-lost", "few-launches"}),
        ("nsys/wsl2-runtime-only-2023.2.3.sqlite", {"no-kernels"}),
        ("nsys/torch-2.7b-compile.sqlite", {"whole-graphs"}),
        ("nsys/torch-forward-kern_sum-2026.1.1.txt", {"stale-export", "summaries", "gpu-unknown"}),
        ("nsys/ddp-rtx3090x2-nccl-2026.3.1.sqlite", {"several-gpus", "several-processes"}),
        ("ncu/cli/a100_raw_auto_fp_cli2024.csv", {"clocks-base", "few-profiled", "replays"}),
        ("ncu/cli/h100_raw_auto_cli2024.csv", {"clocks-base"}),
    ],
)
def test_published_captures(file: str, cautions_: set[str]) -> None:
    assert cautions_ <= {caution.id for caution in inspect(CORPUS / file).cautions}


# --- metrics a file holds ---------------------------------------------------------------------------------------------


def test_held_metrics_of_a_page() -> None:
    held = {metric.name: metric for metric in held_metrics(api.load(NCU / "live_mixed.csv"))}
    assert set(held) == {"sm_throughput", "dram_bytes"}
    [(name, unit, rows)] = held["dram_bytes"].names
    assert (name, unit, rows) == ("dram__bytes.sum", "byte", 40)
    assert held["dram_bytes"].gaps == ""


def test_held_metrics_by_label() -> None:
    held = {metric.name: metric for metric in held_metrics(api.load(NCU / "details.csv"))}
    assert held["sm_throughput"].names[0][0] == "Compute (SM) Throughput"
    assert list(held) == [name for name in load_metrics() if name in held]


def test_gaps_have_reasons() -> None:
    with (NCU / "raw.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    place = rows[0].index("sm__throughput.avg.pct_of_peak_sustained_elapsed")
    rows[2][place], rows[3][place], rows[4][place] = "n/a", "(!) nan", ""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    [metric] = [
        metric
        for metric in held_metrics(api.load(SourceText("raw.csv", out.getvalue().encode())))
        if metric.name == "sm_throughput"
    ]
    assert (metric.rows, metric.total) == (57, 60)
    assert sorted(metric.gaps.split("; ")) == [
        "1 of 60: collection failed", "1 of 60: empty cell", "1 of 60: not available on this GPU (n/a)"
    ]  # fmt: skip
