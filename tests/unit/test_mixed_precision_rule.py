from __future__ import annotations

from typing import Any

import pytest

import nsight_insight as ni
from nsight_insight.model.finding import Finding, Report
from nsight_insight.model.profile import Device
from tests.unit.make_profile import make_profile

RULE = "precision/mixed-precision-does-not-pay"
MS = 1e6


def analysed(cast_ms: float, gpu: str = "NVIDIA A100-SXM4-80GB", gemm: str = "fp16") -> Report:
    rows: list[dict[str, Any]] = [
        {"name": "gemm_kernel", "family": "gemm", "dtype_in": gemm, "tensor_core": "yes", "duration": 10 * MS,
         "count": 50},
        {"name": "cast_kernel", "family": "cast", "dtype_in": "fp32", "dtype_out": "fp16", "duration": cast_ms * MS,
         "count": 100},
        {"name": "gelu_kernel", "family": "elementwise", "dtype_in": "fp16", "duration": 2 * MS, "count": 50},
        {"name": "norm_kernel", "family": "norm", "dtype_in": "fp32", "duration": 20 * MS, "count": 50},
    ]  # fmt: skip
    return ni.analyze(make_profile([{**row, "device": 0} for row in rows], devices=[Device(0, gpu)] if gpu else ()))


def found(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == RULE]


def test_casts_above_the_best_gain_are_the_finding_and_the_casts_its_consequence() -> None:
    report = analysed(30)
    [finding] = found(report)
    # TF32 runs at half the 16-bit peak of an A100: the products save 10 ms, the GELU 2 ms at most.
    assert finding.saving.expected_ns == pytest.approx(18 * MS)
    assert finding.saving.upper_ns == pytest.approx(30 * MS)
    assert "precision/cast-kernels" in {each.rule for each in finding.explains}
    assert "precision/cast-kernels" not in {each.rule for each in report.findings}
    assert report.ledger is not None
    assert report.ledger.balance is not None
    assert {entry.baseline: entry.verdict for entry in report.ledger.balance.comparisons}["TF32"] == "costs more"


@pytest.mark.parametrize("cast_ms", [1, 5, 11.9])
def test_casts_that_may_pay_are_no_such_finding(cast_ms: float) -> None:
    assert found(analysed(cast_ms)) == []


def test_faster_types_and_weaker_alternatives_raise_the_gain() -> None:
    assert found(analysed(30, "NVIDIA H200", "fp8")) == []
    assert found(analysed(30, "Tesla T4")) == []


def test_an_unnamed_gpu_is_a_gap_not_a_finding() -> None:
    report = analysed(30, "")
    assert found(report) == []
    assert RULE in {gap.rule for gap in report.not_evaluated}
