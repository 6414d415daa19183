"""Comparisons of real captures: FP32 against FP16 autocast, cross-checked by other reports of the same captures."""

from __future__ import annotations

import csv
import statistics
from itertools import pairwise
from pathlib import Path

import pytest

import nsight_insight as ni
from nsight_insight.model.comparison import Comparison, GroupChange, KernelChange
from nsight_insight.model.verification import Verifications
from nsight_insight.reporters.comparison import comparison_output
from nsight_insight.reporters.options import RenderOptions
from tests.paths import FIXTURES

FP32 = FIXTURES / "nsys-csv" / "2025.3-h200-fp32"
AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp"
NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp"


@pytest.fixture(scope="module")
def amp() -> Comparison:
    return ni.compare(ni.load(FP32), ni.load(AMP))


@pytest.fixture(scope="module")
def sums() -> Comparison:
    return ni.compare(ni.load(kern_sum(FP32)), ni.load(kern_sum(AMP)), steps=(4, 4))


@pytest.fixture(scope="module")
def verified() -> Verifications:
    return ni.verify(ni.load(FP32), ni.load(AMP))


def kern_sum(folder: Path) -> Path:
    [found] = folder.glob("*_cuda_gpu_kern_sum.csv")
    return found


def projected_steps(folder: Path) -> list[float]:
    """Starts and the last end of the steps on the GPU, from nsys' own projection of the NVTX ranges."""
    [path] = folder.glob("*_nvtx_gpu_proj_trace.csv")
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Name"].startswith(":step")]
    last = rows[-1]
    ends = float(last["Projected Start (ns)"]) + float(last["Projected Duration (ns)"])
    return [*(float(row["Projected Start (ns)"]) for row in rows), ends]


def family(comparison: Comparison, name: str) -> GroupChange:
    [found] = [one for one in comparison.groups if one.kind == "family" and one.name == name]
    return found


def kernels(comparison: Comparison, part: str) -> list[KernelChange]:
    return [c for c in comparison.kernels if any(part in p.base for p in (*c.before, *c.after))]


def test_the_step_is_faster_by_what_nsys_projects(amp: Comparison) -> None:
    assert (amp.unit, amp.measure, amp.verdict) == ("step", "wall", "faster")
    assert amp.wall is not None
    for value, folder in ((amp.wall.before, FP32), (amp.wall.after, AMP)):
        edges = projected_steps(folder)
        lengths = [b - a for a, b in pairwise(edges)]
        assert value == pytest.approx(statistics.median(lengths[1:]), rel=0.02)


def test_products_got_faster_and_casts_are_the_new_cost(amp: Comparison) -> None:
    gemm, cast = family(amp, "gemm").time, family(amp, "cast")
    assert gemm.verdict == "faster"
    assert gemm.difference == min(one.time.difference or 0.0 for one in amp.groups)
    assert (cast.launches_before, cast.launches_after) == (0, 100)
    assert cast.time.verdict == "slower"
    assert cast.time.before == 0
    assert cast.time.difference == max(one.time.difference or 0.0 for one in amp.groups if one.kind == "family")


def test_families_add_up_to_the_kernel_time(amp: Comparison) -> None:
    assert amp.kernel is not None
    for side in ("before", "after"):
        parts = [getattr(one.time, side) for one in amp.groups if one.kind == "family"]
        assert sum(parts) == pytest.approx(getattr(amp.kernel, side))
        assert sum(getattr(one.time, side) for one in amp.kernels) == pytest.approx(getattr(amp.kernel, side))


def test_fp32_products_are_found_again_as_fp16_products(amp: Comparison) -> None:
    for old in ("simt_sgemm_128x256", "ffma"):
        for change in kernels(amp, old):
            assert change.match == "position"
            assert change.what == "precision"
            assert {part.dtype for part in change.after} == {"fp16"}
            assert all("nvjet" in part.base for part in change.after)
            assert change.time.verdict == "faster"
    [attention] = kernels(amp, "fmha_cutlassF")
    assert [part.family for part in attention.after] == ["attention"]
    [addition] = kernels(amp, "GeluCUDAKernelImpl")
    assert (addition.match, addition.what) == ("template", "precision")


def test_the_optimizer_is_what_it_was(amp: Comparison) -> None:
    for name in ("addcdiv_cuda_kernel", "lerp_scalar_kernel", "addcmul_cuda_kernel"):
        [change] = kernels(amp, name)
        assert (change.match, change.time.verdict) == ("name", "same")


def test_findings_follow(amp: Comparison) -> None:
    states = {change.rule: change.state for change in amp.findings}
    assert states["tensor-core/fp32-matrix-on-cuda-cores"] == "fixed"
    assert states["tensor-core/fp32-attention"] == "fixed"
    assert states["precision/cast-kernels"] == "new"
    assert states["launch/per-parameter-optimizer"] == "unchanged"
    # The FP32 capture has no API trace: that nothing was found there about launches says nothing.
    assert states["idle/launch-bound"] == "unknown"
    assert states["idle/synchronization-gaps"] == "unknown"


def test_a_summary_says_the_same_with_a_wider_noise(amp: Comparison, sums: Comparison) -> None:
    assert (sums.unit, sums.measure, sums.verdict) == ("step", "kernel", "faster")
    assert sums.kernel is not None
    assert amp.kernel is not None
    with kern_sum(AMP).open(newline="") as file:
        expected = sum(float(row["Total Time (ns)"]) for row in csv.DictReader(file)) / 4
    assert sums.kernel.after == pytest.approx(expected)
    assert sums.kernel.difference == pytest.approx(amp.kernel.difference, rel=0.01)
    assert (sums.kernel.least or 0.0) > 2 * (amp.kernel.least or 0.0)
    assert sums.before.noise == "standard deviations of a summary"


def test_totals_of_other_numbers_of_steps_are_not_compared() -> None:
    found = ni.compare(ni.load(kern_sum(FP32)), ni.load(kern_sum(AMP)))
    assert (found.unit, found.verdict, found.kernel, found.groups) == ("", "unknown", None, ())
    assert "--steps" in found.reason
    assert {change.state for change in found.findings} <= {"new", "fixed", "unchanged", "unknown"}


def test_the_first_launches_of_a_step_are_no_step() -> None:
    """Both ncu captures hold 60 launches that carry the range of one step; the step has ten times as many."""
    found = ni.compare(ni.load(NCU / "raw_fp32.csv"), ni.load(NCU / "raw.csv"))
    assert (found.unit, found.verdict) == ("", "unknown")
    assert {change.time.verdict for change in found.kernels} <= {"same", "unknown"}


def test_ncu_and_nsys_times_are_not_compared() -> None:
    found = ni.compare(ni.load(FP32 / "fp32_cuda_gpu_trace.csv"), ni.load(NCU / "raw.csv"), steps=(4, 1))
    assert found.unit == ""
    assert "nsys and ncu" in found.reason
    assert {change.time.verdict for change in found.kernels} == {"unknown"}


def test_the_report_names_products_and_casts(amp: Comparison) -> None:
    text = comparison_output(amp, "text", RenderOptions(width=80))
    assert text.startswith("Faster: a step takes 14.5 ms instead of 49.9 ms (-71 %)\n")
    assert "mostly gemm -37.7 ms, against it cast +1.27 ms (new)" in text
    assert max(map(len, text.splitlines())) <= 80
    markdown = comparison_output(amp, "markdown", RenderOptions())
    assert markdown.startswith("## Faster: a step takes 14.5 ms instead of 49.9 ms")
    assert "| cast | 0 ns | 1.27 ms |" in markdown


def test_the_prediction_for_the_products_held(verified: Verifications) -> None:
    found = {one.rule: one for one in verified.findings}
    product = found["tensor-core/fp32-matrix-on-cuda-cores"]
    assert (product.outcome, product.state) == ("confirmed", "fixed")
    assert product.measured is not None
    assert product.expected <= product.measured <= product.upper
    assert [(e.metric, e.movement) for e in product.expectations] == [("duration", "as predicted")]
    assert found["tensor-core/fp32-attention"].outcome == "confirmed"
    assert found["launch/per-parameter-optimizer"].outcome == "refuted"
