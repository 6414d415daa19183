"""Healthy programs get no advice, and from thin or damaged input nothing certain and nothing invented is said."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bench.proof.cases import load_cases
from bench.proof.findings import CAPTURES
from nsight_insight import api
from nsight_insight.errors import InputError
from nsight_insight.model.finding import Evidence, Finding, Report
from nsight_insight.model.issues import Level
from nsight_insight.readers.text import SourceText
from nsight_insight.rules.thin import SUMMARY
from tests.paths import CORPUS, FIXTURES

CASES = {case.id: case for case in load_cases()}
FALSE = 0.05
"""Expected share from which a finding on a healthy program is false, as in the proof's scores."""
HEALTHY = {
    "C01": "reduction at the DRAM roof",
    "C16": "matrix times vector: bound by memory whatever the precision",
    "C32": "persistent kernel of one wave",
    "C41": "copy at the DRAM roof",
    "C60": "transformer training, everything fused",
    "C64": "large product of a library",
    "C96": "inference of large layers",
    "C98": "copies under computation",
    "P44": "steps replayed as a CUDA graph",
    "P117": "decoding replayed as a CUDA graph",
    "P21": "coalesced reads at the DRAM roof",
}
FP32 = FIXTURES / "nsys-csv" / "2025.3-h200-fp32"
AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp"
RAW = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw_fp32.csv"
IDENTITY = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
            "Grid Size", "Device", "CC")  # fmt: skip
SUMMARIES = (
    FP32 / "fp32_cuda_gpu_kern_sum.csv",
    AMP / "amp_fp16_cuda_gpu_kern_sum.csv",
    AMP / "amp_fp16_cuda_gpu_sum.csv",
    CORPUS / "nsys" / "resnet18-kern_sum.csv",
    CORPUS / "nsys" / "vllm-a100-kern_sum-o.csv",
    CORPUS / "nsys" / "torch-large-ctx1024-kern_sum.csv",
)


def analyzed(text: str, name: str = "thin.csv") -> Report:
    return api.analyze(api.load(SourceText(name, text.encode())))


@cache
def of(path: Path) -> Report:
    return api.analyze(api.load(path))


def everything(findings: Sequence[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        yield from finding.explains


def quantities(report: Report) -> Iterator[tuple[Finding, Evidence]]:
    for finding in everything(report.findings):
        for evidence in finding.evidence:
            yield finding, evidence


def raw_rows() -> list[list[str]]:
    return list(csv.reader(io.StringIO(RAW.read_text(encoding="utf-8"))))


def written(rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return out.getvalue()


def columns(rows: list[list[str]], chosen: Sequence[str]) -> str:
    places = [rows[0].index(name) for name in chosen]
    return written([[row[place] for place in places] for row in rows])


def reread(report: Report, text: str) -> int:
    """Check that every located quantity stands in the file as the finding says; how many were checked."""
    lines = text.splitlines()
    cells = {number: next(csv.reader([line])) for number, line in enumerate(lines, 1)}
    heading = next(number for number, row in cells.items() if "Kernel Name" in row)
    checked = 0
    for finding, evidence in quantities(report):
        for quantity in evidence.values:
            place = quantity.location
            if place is None or place.column is None or place.line is None:
                continue
            # A metric that is a sum of two names both, and its place is that of the first.
            names = place.field.split(" + ")
            assert cells[heading][place.column - 1] == names[0], (finding.rule, quantity)
            value = quantity.cell if quantity.cell is not None else quantity.value
            if isinstance(value, float):
                row, places = cells[place.line], [cells[heading].index(name) for name in names]
                shown = [[number * scale(cells[heading + 1][at]) for number in printed(row[at])] for at in places]
                sums = shown[0] if len(names) == 1 else [sum(numbers[0] for numbers in shown)]
                assert any(same(number, value) for number in sums), (finding.rule, quantity)
            checked += 1
    return checked


def printed(cell: str) -> list[float]:
    """What a cell as ncu prints it may stand for: a number, or a shape such as ``(4, 16, 4)`` and its parts."""
    if cell.startswith("("):
        parts = [float(number) for number in re.findall(r"\d+", cell)]
        return [*parts, float(np.prod(parts))]
    return [float(cell.replace(",", ""))]


def scale(unit: str) -> float:
    """What one of a unit as ncu prints it is in SI."""
    found = re.match(r"([numKMGT]?)(?:byte|hz|second|s\b)", unit)
    prefix = {"": 0, "n": -9, "u": -6, "m": -3, "K": 3, "M": 6, "G": 9, "T": 12}
    return 10.0 ** prefix[found[1]] if found else 1e-2 if unit == "%" else 1.0


def same(shown: float, value: float) -> bool:
    """Whether two SI values agree to the digits ncu prints; a number without unit may be a percentage."""
    return any(abs(shown * factor - value) <= 1e-3 * abs(value) + 1e-9 for factor in (1.0, 1e-2))


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_gets_no_advice_above_five_percent(name: str) -> None:
    case = CASES[name]
    report = api.analyze(api.load(CAPTURES / f"{name}-good.tar.xz"))
    false = [
        (finding.rule, round(finding.saving.share, 3))
        for finding in report.findings
        if finding.saving.share > FALSE and finding.rule not in case.remains
    ]
    assert false == []
    if not case.remains:
        assert report.potential.share <= 2 * FALSE


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.stem)
def test_a_summary_of_kernels_is_never_sure(path: Path) -> None:
    if not path.exists():
        pytest.skip("needs the folder of published files")
    report = api.analyze(api.load(path, gpu="NVIDIA H200"))
    assert [finding.rule for finding in everything(report.findings) if finding.confidence == "high"] == []
    assert report.totals.gpu_busy_ns is None
    assert report.totals.steady_window_ns is None
    assert not [f.rule for f in report.findings if f.category in ("idle", "sync", "imbalance", "communication")]
    assert all(device.window_ns is None for device in report.device_totals)


def test_the_reason_is_told_with_what_would_otherwise_be_sure() -> None:
    report = api.analyze(api.load(FP32 / "fp32_cuda_gpu_kern_sum.csv", gpu="NVIDIA H200"))
    sure = api.analyze(api.load(FP32 / "fp32_cuda_gpu_trace.csv", gpu="NVIDIA H200"))
    assert SUMMARY in report.findings[0].saving.assumptions
    assert sure.findings[0].rule == report.findings[0].rule
    assert (sure.findings[0].confidence, report.findings[0].confidence) == ("high", "medium")


def test_without_a_gpu_no_saving_by_its_peaks_is_sure() -> None:
    report = api.analyze(api.load(FP32 / "fp32_cuda_gpu_kern_sum.csv"))
    assert report.devices == ()
    peaks = [f for f in report.findings if any("GPU not named" in text for text in f.saving.assumptions)]
    assert peaks
    assert all(finding.confidence in ("low", "medium") for finding in peaks)
    assert not any("H200" in finding.message for finding in report.findings)


def test_names_alone_are_no_profile() -> None:
    with pytest.raises(InputError):
        analyzed(columns(raw_rows(), IDENTITY))


def test_names_without_times_say_nothing() -> None:
    rows = raw_rows()
    place = rows[0].index("gpu__time_duration.sum")
    for row in rows[2:]:
        row[place] = ""
    report = analyzed(columns(rows, [*IDENTITY, "gpu__time_duration.sum"]))
    assert report.findings == ()
    assert report.totals.kernel_ns == 0
    assert report.not_evaluated


@pytest.mark.parametrize(
    "metric",
    [
        "gpu__time_duration.sum",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "launch__waves_per_multiprocessor",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "smsp__issue_active.avg.per_cycle_active",
    ],
)
def test_one_metric_gives_no_finding_that_needs_another(metric: str) -> None:
    rows = raw_rows()
    kept = [*IDENTITY, *dict.fromkeys(["gpu__time_duration.sum", metric])]
    text = columns(rows, kept)
    report = analyzed(text)
    known = {"gpu__time_duration.sum", metric, *IDENTITY}
    for finding, evidence in quantities(report):
        fields = {value.location.field for value in evidence.values if value.location}
        assert fields <= known, finding.rule
    # What is left rests on names and durations; on counters, nothing can.
    assert not [f.rule for f in everything(report.findings) if f.category in ("memory", "latency", "occupancy")]
    assert reread(report, text) == sum(
        value.location is not None for _, evidence in quantities(report) for value in evidence.values
    )


def test_every_quantity_of_the_whole_page_stands_where_it_says() -> None:
    text = RAW.read_text(encoding="utf-8")
    report = analyzed(text)
    assert report.findings
    assert reread(report, text) > 20


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_columns_change_nothing(seed: int) -> None:
    rows = raw_rows()
    first = len(IDENTITY) + 2  # and two columns of NVTX ranges
    order = [*range(first), *np.random.default_rng(seed).permutation(np.arange(first, len(rows[0])))]
    shuffled = written([[row[place] for place in order] for row in rows])
    plain, other = analyzed(written(rows)), analyzed(shuffled)
    assert [(f.rule, f.subject.kernel, f.saving.expected_ns) for f in other.findings] == [
        (f.rule, f.subject.kernel, f.saving.expected_ns) for f in plain.findings
    ]
    assert reread(other, shuffled) > 20


def test_renamed_metrics_are_missing_not_guessed() -> None:
    rows = raw_rows()
    rows[0] = [name if name in (*IDENTITY, "gpu__time_duration.sum") else f"my_{name}" for name in rows[0]]
    text = written(rows)
    report = analyzed(text)
    located = [v.location.field for _, e in quantities(report) for v in e.values if v.location]
    assert not [name for name in located if name.startswith("my_")]
    assert not [f.rule for f in everything(report.findings) if f.category in ("memory", "latency", "occupancy")]
    assert {gap.rule for gap in report.not_evaluated} > {"memory/uncoalesced-global-access", "latency/divergence"}


def test_values_under_the_wrong_heading_are_refused_or_silent_never_advice_above_peak() -> None:
    """Each metric's numbers under its neighbour's name: units no longer fit, and impossible values are no findings."""
    rows = raw_rows()
    first = len(IDENTITY) + 2
    rows[0] = rows[0][:first] + rows[0][first + 1 :] + rows[0][first : first + 1]
    try:
        report = analyzed(written(rows))
    except InputError:
        return
    assert any(issue.level >= Level.DATA_LOSS for issue in report.issues)
    for finding in everything(report.findings):
        assert finding.saving.upper_ns <= report.totals.kernel_ns * (1 + 1e-9)
        assert finding.saving.expected_ns <= finding.saving.upper_ns * (1 + 1e-9)


@pytest.mark.parametrize("part", [0.15, 0.5, 0.93])
def test_a_file_cut_short_says_so_or_tells_only_what_is_left(part: float) -> None:
    text = (FP32 / "fp32_cuda_gpu_trace.csv").read_text(encoding="utf-8")
    cut = text[: int(len(text) * part)]
    report = analyzed(cut)
    whole = cut.count("\n") - 1
    assert report.totals.launches <= whole + 1
    assert report.totals.kernel_ns <= of(FP32 / "fp32_cuda_gpu_trace.csv").totals.kernel_ns
    last = cut.rpartition("\n")[2]
    if last.count(",") < text.splitlines()[0].count(","):
        assert any(issue.level >= Level.DATA_LOSS for issue in report.issues)
        assert [finding.rule for finding in report.findings if finding.confidence == "high"] == []


def test_an_empty_page_is_an_error_not_a_clean_bill() -> None:
    rows = raw_rows()
    with pytest.raises(InputError):
        analyzed(written(rows[:2]))


KINDS = ("ncu-csv", "ncu-text", "nsys-csv", "nsys-sqlite", "nsys-text", "nvprof")
"""Formats whose fixtures hold kernels; binary reports hold what these do, and take seconds to read."""


def fixture_inputs() -> list[Path]:
    folders = [path for kind in KINDS for path in sorted((FIXTURES / kind).iterdir()) if path.is_dir()]
    return [folder for folder in folders if not folder.name.endswith("-recipes")]


@pytest.mark.parametrize("folder", fixture_inputs(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_composed_bound_never_exceeds_the_profiles_time(folder: Path) -> None:
    report = of(folder)
    there = report.totals.kernel_ns + report.totals.idle_ns + (report.totals.copy_ns or 0.0)
    potential = report.potential
    assert 0 <= potential.expected_ns <= potential.upper_ns * (1 + 1e-9) <= there * (1 + 1e-9)
    assert potential.upper_ns <= (potential.base_ns or report.totals.kernel_ns) * (1 + 1e-9)
    assert 0 <= potential.share <= 1
    assert potential.expected_ns <= sum(f.saving.expected_ns for f in report.findings) * (1 + 1e-9)
    assert report.what_if("all").best_ns >= -1e-3


@pytest.mark.parametrize("folder", [*fixture_inputs(), CAPTURES / "P50-bad.tar.xz"], ids=lambda path: path.name)
def test_no_finding_promises_more_than_what_it_is_a_share_of(folder: Path) -> None:
    report = of(folder)
    for finding in everything(report.findings):
        saving = finding.saving
        base = saving.base_ns or report.totals.kernel_ns
        assert 0 <= saving.expected_ns <= saving.upper_ns * (1 + 1e-9) <= base * (1 + 1e-9) ** 2, finding.rule


def test_small_copies_promise_idle_time_and_copies_no_more() -> None:
    """2,700 copies cost 6 us each, far more than kernels and copies take: the time is in the gaps between them."""
    report = of(CAPTURES / "P50-bad.tar.xz")
    [copies] = [finding for finding in report.findings if finding.rule == "transfer/small-copies"]
    assert copies.saving.base_ns == report.totals.steady_window_ns
    assert 0.5 < copies.saving.share < 0.9
    assert report.potential.upper_ns <= (report.potential.base_ns or 0.0)


def test_kernels_that_ncu_left_out_are_said_to_be_unjudged() -> None:
    """The captures are of a large and a small model: the small one's profile holds other matrix kernels."""
    profile = api.load(AMP / "amp_fp16_cuda_gpu_trace.csv", RAW.with_name("raw.csv"))
    report = api.analyze(profile)
    [gap] = [gap for gap in report.not_evaluated if gap.rule == "latency/stall-long-scoreboard"]
    [roofline] = api.charts(profile).rooflines
    apart = [one for one in roofline.unplaced if "not profiled" in one.reason]
    share = sum(one.share for one in apart)
    assert gap.kernels == len(apart) == 42
    assert gap.time_ns == pytest.approx(sum(one.time_ns for one in apart))
    assert f"{share:.1%}".replace("%", " %") in gap.reason
    assert gap.collect.startswith("ncu")
