"""The precision ledger and the Tensor Core account of the two captures of one program, FP32 and FP16 autocast.

Expected numbers are sums over the CSV files by hand (awk over cuda_gpu_kern_sum), not our output.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import nsight_insight as ni
from nsight_insight.model.finding import Report
from nsight_insight.model.ledger import Comparison, PrecisionLedger, TensorAccount
from tests.paths import CAPTURES, FIXTURES

AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp"
FP32 = FIXTURES / "nsys-csv" / "2025.3-h200-fp32"
NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp"
SQLITE = CAPTURES / "h200-amp" / "nsys" / "amp_fp16.sqlite"
MS = 1e6


@cache
def report(*paths: Path) -> Report:
    return ni.analyze(ni.load(*paths))


def ledger(*paths: Path) -> PrecisionLedger:
    found = report(*paths).ledger
    assert found is not None
    return found


def account(*paths: Path) -> TensorAccount:
    found = report(*paths).tensor_account
    assert found is not None
    return found


TRACE, SUMMARY = AMP / "amp_fp16_cuda_gpu_trace.csv", AMP / "amp_fp16_cuda_gpu_kern_sum.csv"


@pytest.mark.parametrize("path", [TRACE, SUMMARY], ids=["trace", "summary"])
def test_autocast_spends_5_1_ms_in_400_casts(path: Path) -> None:
    times: dict[str, float] = defaultdict(float)
    launches: dict[str, int] = defaultdict(int)
    for entry in ledger(path).conversions:
        key = "cudnn" if entry.dtype_out == "16bit" else entry.kind
        times[key] += entry.time_ns / MS
        launches[key] += entry.launches
    assert {key: round(value, 2) for key, value in times.items()} == {
        "cast down": 1.80, "cast up": 3.15, "cudnn": 0.14, "layout": 0.66, "fused": 0.51,
    }  # fmt: skip
    assert dict(launches) == {"cast down": 204, "cast up": 180, "cudnn": 16, "layout": 28, "fused": 32}
    casts = sum(times[key] for key in ("cast down", "cast up", "cudnn"))
    assert casts == pytest.approx(5.10, abs=0.005)


def test_every_step_casts_the_same_and_every_weight_once() -> None:
    found = ledger(TRACE)
    assert found.steps == 3
    assert {(e.kind, e.dtype_out): e.step_launches for e in found.conversions if e.kind.startswith("cast")} == {
        ("cast up", "fp32"): 44, ("cast down", "fp16"): 51, ("cast down", "16bit"): 4, ("cast up", "fp64"): 1,
    }  # fmt: skip
    assert found.weight_casts == 1
    assert found.inherent_ns is not None
    assert found.avoidable_ns is not None
    assert found.inherent_ns + found.avoidable_ns == pytest.approx(5.0966 * MS, rel=1e-4)


def test_the_logits_cast_to_fp32_before_the_loss_are_the_dearest() -> None:
    """The program calls .float() on the logits in front of cross_entropy: one cast per step, 8 x 512 x 32,000."""
    up = ledger(TRACE).conversions[0]
    assert (up.kind, up.dtype_out) == ("cast up", "fp32")
    first = up.flows[0]
    assert (first.producer, first.consumer, first.launches) == ("gemm", "softmax", 4)
    assert first.time_ns / up.time_ns == pytest.approx(0.479, abs=0.001)


def compared(found: PrecisionLedger, baseline: str) -> Comparison:
    assert found.balance is not None
    return next(entry for entry in found.balance.comparisons if entry.baseline == baseline)


def test_what_16_bits_gain_over_fp32_is_what_the_paired_capture_shows() -> None:
    """FP32 matrix work takes 171.8 ms, the same work under autocast 12.6 ms."""
    over_fp32 = compared(ledger(TRACE), "FP32")
    assert over_fp32.verdict == "pays"
    assert over_fp32.gain_ns == pytest.approx((171.8 - 12.6) * MS, rel=0.15)
    assert compared(ledger(TRACE), "TF32").verdict == "undecided"
    assert compared(ledger(SUMMARY), "FP32").verdict == "undecided", "the summary does not name the GPU"


@pytest.mark.skipif(not SQLITE.exists(), reason="capture not at hand")
def test_ranges_of_the_database_pay_all_conversions() -> None:
    ranges = {cost.name: cost for cost in ledger(SQLITE).ranges}
    assert set(ranges) == {"forward", "optimizer", ""}
    assert sum(cost.time_ns for cost in ranges.values()) == pytest.approx(ledger(SQLITE).time_ns)
    assert sum(cost.launches for cost in ranges.values()) == ledger(SQLITE).launches


def test_fp32_run_casts_nothing() -> None:
    found = ledger(FP32)
    assert {entry.kind for entry in found.conversions} == {"layout"}
    assert found.time_ns == pytest.approx(0.776 * MS, rel=0.001)
    assert found.balance is None
    assert found.weight_casts is None


def test_ncu_measures_bytes_moved() -> None:
    """12 casts of FP32 to FP16 read 4 and write 2 bytes per element; part of the writes stays in L2."""
    down = ledger(NCU / "raw.csv").conversions[0]
    assert (down.kind, down.launches) == ("cast down", 12)
    assert down.bytes == pytest.approx(27.34e6, rel=0.01)
    assert down.measured_ns == pytest.approx(down.time_ns)


def test_autocast_products_run_on_tensor_cores_in_fp16() -> None:
    found = account(TRACE)
    parts = {(part.path, part.dtype): part for part in found.parts}
    assert parts["Tensor Cores", "fp16"].time_ns == pytest.approx(11.18 * MS, rel=0.001)
    assert parts["Tensor Cores", "fp16"].launches == 204
    assert found.tensor_ns / found.time_ns == pytest.approx(0.988, abs=0.001)
    assert found.counted_ns == 0


def test_fp32_products_all_run_on_cuda_cores() -> None:
    found = account(FP32)
    parts = {(part.path, part.dtype): part for part in found.parts}
    assert parts["CUDA cores", "fp32"].time_ns == pytest.approx(161.84 * MS, rel=0.0001)
    assert parts["CUDA cores", "fp32"].launches == 204
    first = found.causes[0]
    assert (first.cause, first.rule) == ("FP32 on CUDA cores", "tensor-core/fp32-matrix-on-cuda-cores")
    assert first.time_ns == pytest.approx(161.84 * MS, rel=0.0001)


def test_counters_show_that_fp32_attention_computes_in_tf32() -> None:
    parts = {(part.path, part.dtype): part for part in account(NCU / "raw_fp32.csv").parts}
    attention = parts["Tensor Cores", "tf32"]
    assert attention.launches == 1
    assert attention.peak_share is not None
    assert attention.peak_share < 0.1
    assert account(NCU / "raw_fp32.csv").counted_ns == pytest.approx(account(NCU / "raw_fp32.csv").time_ns)


@pytest.mark.parametrize("paths", [(TRACE,), (SUMMARY,), (FP32,), (NCU / "raw.csv",), (NCU / "raw_fp32.csv",)])
def test_parts_and_causes_add_up(paths: tuple[Path, ...]) -> None:
    found = account(*paths)
    assert sum(part.time_ns for part in found.parts) == pytest.approx(found.time_ns)
    assert sum(part.launches for part in found.parts) == found.launches
    assert sum(cause.time_ns for cause in found.causes) == pytest.approx(found.time_ns)
    pure = [entry for entry in ledger(*paths).conversions if entry.kind != "fused"]
    assert sum(entry.time_ns for entry in pure) == pytest.approx(ledger(*paths).time_ns)
    assert sum(entry.launches for entry in pure) == ledger(*paths).launches
