"""What the product promises on the two captures of one program, FP32 and FP16 autocast, on one H200.

The expected numbers are measurements, not our predictions: the GEMM time of the FP32 capture is 161.8 ms, the
same program's GEMM time under autocast is 11.2 ms.
"""

from __future__ import annotations

import csv
import math
import re
from functools import cache
from pathlib import Path

import pytest

import nsight_insight as ni
from nsight_insight.config import Config, Threshold
from nsight_insight.model.finding import Finding, Quantity, Report
from nsight_insight.model.units import parse_unit
from tests.paths import FIXTURES

FP32 = FIXTURES / "nsys-csv" / "2025.3-h200-fp32"
AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp"
NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp"
ALL = Config(min_saving=Threshold(share=0.0))
MEASURED_GEMM_SAVING_NS = 161.84e6 - 11.18e6


@cache
def report(*paths: Path, everything: bool = False) -> Report:
    return ni.analyze(ni.load(*paths), ALL if everything else None)


def fp32() -> Report:
    return report(FP32 / "fp32_cuda_gpu_kern_sum.csv")


def amp() -> Report:
    return report(AMP / "amp_fp16_cuda_gpu_kern_sum.csv")


def find(found: Report, rule: str) -> Finding:
    return next(finding for finding in found.findings if finding.rule == rule)


def test_fp32_first_finding_is_gemm_on_cuda_cores() -> None:
    first = fp32().findings[0]
    assert first.rule == "tensor-core/fp32-matrix-on-cuda-cores"
    assert first.subject.time_share == pytest.approx(0.833, abs=0.002)
    assert len(first.subject.members) == 6


def test_nothing_says_that_these_kernels_use_tensor_cores() -> None:
    gemms = {member.kernel for member in fp32().findings[0].subject.members}
    for finding in report(FP32 / "fp32_cuda_gpu_kern_sum.csv", everything=True).findings[1:]:
        assert not gemms & {member.kernel for member in finding.subject.members}, finding.rule


def test_expected_saving_of_16_bit_products_is_what_the_paired_capture_shows() -> None:
    saving = fp32().findings[0].saving
    assert saving.expected_ns == pytest.approx(MEASURED_GEMM_SAVING_NS, rel=0.2)
    assert saving.upper_ns >= MEASURED_GEMM_SAVING_NS


def test_tf32_is_offered_with_its_own_smaller_saving() -> None:
    first = fp32().findings[0]
    tf32 = next(remedy for remedy in first.remedies if remedy.id == "tf32")
    assert tf32.saving is not None
    assert 0 < tf32.saving.expected_ns < first.saving.expected_ns


def test_an_unnamed_gpu_is_said_and_lowers_confidence() -> None:
    assert any("GPU not named" in text for text in fp32().findings[0].saving.assumptions)
    named = ni.analyze(ni.load(FP32 / "fp32_cuda_gpu_trace.csv", gpu="NVIDIA H200")).findings[0]
    assert named.confidence == "high"
    assert not named.saving.assumptions


def test_on_a_geforce_the_same_profile_promises_less() -> None:
    def expected(gpu: str) -> tuple[float, float]:
        first = ni.analyze(ni.load(FP32 / "fp32_cuda_gpu_kern_sum.csv", gpu=gpu)).findings[0]
        tf32 = [r.saving.expected_ns for r in first.remedies if r.id == "tf32" and r.saving]
        return first.saving.expected_ns, sum(tf32)

    half, tf32 = expected("NVIDIA GeForce RTX 3090")
    assert half < 0.6 * expected("NVIDIA H200")[0]
    assert tf32 == 0, "TF32 has the FP32 peak on GeForce: not offered"


def test_amp_casts_optimizer_and_layout_are_found() -> None:
    casts = find(amp(), "precision/cast-kernels")
    assert 0.122 <= casts.subject.time_share <= 0.130
    assert any("convert_dq_to_16bits" in member.kernel for member in casts.subject.members)
    assert not any("nocast" in member.kernel for member in casts.subject.members)
    assert find(amp(), "precision/layout-conversion").subject.time_share == pytest.approx(0.016, abs=0.001)
    optimizer = find(amp(), "launch/per-parameter-optimizer")
    assert any("addcdiv" in member.kernel for member in optimizer.subject.members)


def test_amp_is_not_told_to_enable_mixed_precision() -> None:
    for finding in report(AMP / "amp_fp16_cuda_gpu_kern_sum.csv", everything=True).findings:
        assert finding.rule not in {
            "tensor-core/fp32-matrix-on-cuda-cores", "tensor-core/tf32-where-16bit-fits", "tensor-core/fp32-attention",
        }, finding.rule  # fmt: skip


def test_summary_trace_and_folder_of_one_capture_agree() -> None:
    one = amp()
    for other in (report(AMP / "amp_fp16_cuda_gpu_trace.csv"), report(AMP)):
        assert other.totals.kernel_ns == one.totals.kernel_ns
        assert other.totals.launches == one.totals.launches
        for finding in one.findings:
            same = find(other, finding.rule)
            assert same.saving.expected_ns == pytest.approx(finding.saving.expected_ns, rel=1e-9)
            assert {m.kernel for m in same.subject.members} == {m.kernel for m in finding.subject.members}


def first_launches(tmp_path: Path, count: int) -> Path:
    """raw.csv cut to its first launches, for comparison with exports that were cut the same way."""
    lines = (NCU / "raw.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "raw.csv"
    path.write_text("".join(lines[: 2 + count]), encoding="utf-8")
    return path


def outline(found: Report, rules: set[str] | None = None) -> dict[tuple[str, tuple[str, ...]], tuple[float, float]]:
    return {
        (f.rule, tuple(sorted(m.base for m in f.subject.members))): (f.saving.expected_ns, f.saving.upper_ns)
        for f in found.findings
        if rules is None or f.rule in rules
    }


@pytest.mark.parametrize("name", ["raw_base.csv", "raw_mangled_fp.csv", "details.csv"])
def test_every_export_of_one_ncu_capture_gives_the_same_findings(tmp_path: Path, name: str) -> None:
    other = report(NCU / name, everything=True)
    raw = ni.analyze(ni.load(first_launches(tmp_path, other.totals.launches)), ALL)
    judged = {finding.rule for finding in raw.findings} - {gap.rule for gap in other.not_evaluated}
    ours, theirs = outline(raw, judged), outline(other, judged)
    assert ours.keys() == theirs.keys()
    # The details page prints durations with two decimals of a microsecond.
    resolution = 0.01 if name == "details.csv" else 1e-9
    for key, savings in ours.items():
        assert theirs[key] == pytest.approx(savings, rel=resolution), key


def test_live_output_mixed_with_the_program_loses_no_launch() -> None:
    text = (NCU / "live_mixed.csv").read_text(encoding="utf-8")
    launches = set(re.findall(r'^"(\d+)",', text, flags=re.MULTILINE))
    assert report(NCU / "live_mixed.csv").totals.launches == len(launches) == 40


def test_details_without_stalls_names_the_rules_and_a_command_that_collects_them(tmp_path: Path) -> None:
    text = (NCU / "details.csv").read_text(encoding="utf-8")
    path = tmp_path / "basic.csv"
    path.write_text(
        "".join(line for line in text.splitlines(keepends=True) if "Warp State" not in line), encoding="utf-8"
    )
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if "Scheduler Statistics" not in line), encoding="utf-8")
    found = report(path, everything=True)
    # Launches of a few microseconds are not judged by stall rules at all, so look at a larger capture as well.
    big = first_launch_scaled(path, tmp_path)
    gaps = {gap.rule: gap for gap in report(big, everything=True).not_evaluated}
    stalls = [gap for rule, gap in gaps.items() if rule.startswith("latency/stall-")]
    assert stalls
    for gap in stalls:
        assert any(name.startswith(("stall_", "warp_latency", "issue_active")) for name in gap.missing), gap
        assert gap.collect.startswith("ncu --csv --page raw")
        assert "--section WarpStateStats" in gap.collect or "--section SchedulerStats" in gap.collect
    assert found.totals.launches == 20


def first_launch_scaled(path: Path, tmp_path: Path) -> Path:
    """The same page with every duration and grid a thousand times larger, as for real work."""
    out = tmp_path / "scaled.csv"
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'"Duration","us","([\d.,]+)"', lambda m: m[0].replace('"us"', '"ms"'), text)
    text = re.sub(r'"Waves Per SM","","[\d.,]+"', '"Waves Per SM","","7.00"', text)
    out.write_text(text, encoding="utf-8")
    return out


def test_a_3_us_kernel_never_outranks_a_500_us_one(tmp_path: Path) -> None:
    text = (NCU / "raw_fp32.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    rows = list(csv.reader(text))
    column = rows[0].index("gpu__time_duration.sum")
    found = report(NCU / "raw_fp32.csv", everything=True)
    times = [float(row[column].replace(",", "")) for row in rows[2:]]
    assert min(times) < 4
    for position, finding in enumerate(found.findings):
        for later in found.findings[position + 1 :]:
            assert finding.rank >= later.rank
            assert not (finding.subject.time_ns < 5e3 and later.subject.time_ns > 100e3 and later.rank > finding.rank)
        assert finding.saving.upper_ns <= finding.subject.time_ns * (1 + 1e-9) or not finding.subject.members


# --- every number can be walked back to its cell -----------------------------------------------------------


def quantities(found: Report) -> list[Quantity]:
    findings = [f for top in found.findings for f in (top, *top.explains)]
    return [q for f in findings for e in f.evidence for q in e.values if q.location and q.cell is not None]


@cache
def records(path: str) -> list[list[str]]:
    csv.field_size_limit(10**9)
    with Path(path).open(encoding="utf-8", newline="") as handle:
        return list(csv.reader(handle))


def printed(quantity: Quantity) -> float:
    """The number in the cell (or the sum of the cells where the metric is a sum of two) as printed."""
    location = quantity.location
    assert location is not None
    rows = records(location.path)
    assert location.line is not None
    assert location.column is not None
    row = rows[location.line - 1]
    if " + " in location.field:
        columns = [rows[0].index(name) for name in location.field.split(" + ")]
        units = [parse_unit(rows[1][column]) for column in columns]
        return sum(number(row[column]) * unit.scale for column, unit in zip(columns, units, strict=True) if unit)
    return number(row[location.column - 1])


def number(text: str) -> float:
    inside = re.search(r"-?[\d,]*\.?\d+", text.strip().lstrip("("))
    assert inside, text
    return float(inside[0].replace(",", ""))


SOURCES = [
    FP32 / "fp32_cuda_gpu_kern_sum.csv",
    AMP / "amp_fp16_cuda_gpu_kern_sum.csv",
    AMP / "amp_fp16_cuda_gpu_trace.csv",
    NCU / "raw.csv",
    NCU / "raw_base.csv",
    NCU / "raw_fp32.csv",
    NCU / "raw_mangled_fp.csv",
    NCU / "details.csv",
    NCU / "live_mixed.csv",
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_evidence_points_at_the_cell_that_holds_the_number(path: Path) -> None:
    checked = 0
    for quantity in quantities(report(path, everything=True)):
        value, cell = printed(quantity), quantity.cell
        assert cell is not None
        if value == 0 or cell == 0:
            assert value == cell == 0, quantity
        else:
            power = math.log10(cell / value)
            # Units differ from SI by powers of ten only (ns, %, Kbyte, Ghz ...).
            assert power == pytest.approx(round(power), abs=1e-6), quantity
        checked += 1
    assert checked >= 3
