from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.text import Text

import nsight_insight as ni
from nsight_insight.model.finding import Report
from nsight_insight.model.ledger import (
    Balance,
    Comparison,
    Conversion,
    Flow,
    Instructions,
    PrecisionLedger,
    RangeCost,
    TensorAccount,
    TensorCause,
    TensorPart,
)
from nsight_insight.reporters import json as json_reporter
from nsight_insight.reporters._accounts import ledger_lines, tensor_lines
from nsight_insight.reporters._layout import Page, to_string
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.reporters.text import render
from tests.paths import CAPTURES, FIXTURES
from tests.unit.make_report import HOSTILE, report
from tests.unit.test_json_reporter import strict

jsonschema = pytest.importorskip("jsonschema")
AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_trace.csv"
FP32 = FIXTURES / "nsys-csv" / "2025.3-h200-fp32" / "fp32_cuda_gpu_trace.csv"
NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
SQLITE = CAPTURES / "h200-amp" / "nsys" / "amp_fp16.sqlite"
LINES = 14


@cache
def analysed(path: Path) -> Report:
    if not path.exists():
        pytest.skip("capture not at hand")
    return ni.analyze(ni.load(path))


def text(lines: Sequence[Text]) -> str:
    return to_string(lines, color=False, unicode=True)


def conversion(kind: str = "cast down", time: float = 5e6, **more: object) -> Conversion:
    whole = Conversion("cast down", "fp32", "fp16", 100, time, time / 100e6)
    return replace(whole, kind=kind, **more)  # type: ignore[arg-type]


def told(*conversions: Conversion, page: Page | None = None, **more: object) -> str:
    pure = [entry for entry in conversions if entry.kind != "fused"]
    time = sum(entry.time_ns for entry in pure)
    whole = PrecisionLedger(conversions, sum(entry.launches for entry in pure), time, time / 100e6)
    found = replace(whole, **more)  # type: ignore[arg-type]
    return text(ledger_lines(report(ledger=found), page or Page(80)))


@pytest.mark.parametrize("path", [AMP, FP32, NCU, SQLITE], ids=lambda path: path.name)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_sections_fit_the_page(path: Path, width: int) -> None:
    for section in (ledger_lines, tensor_lines):
        lines = text(section(analysed(path), Page(width))).splitlines()
        assert all(len(line) <= width for line in lines)
        assert width < 80 or len(lines) <= LINES


def test_sections_follow_where_the_time_goes() -> None:
    lines = render(analysed(AMP), RenderOptions(width=80)).splitlines()
    titles = [line for line in lines if line in ("Where the time goes", "Precision conversions", "Tensor Cores")]
    assert titles == ["Where the time goes", "Precision conversions", "Tensor Cores"]


def test_ledger_of_the_autocast_run() -> None:
    assert text(ledger_lines(analysed(AMP), Page(80))) == (
        "Precision conversions\n"
        "  5.76 ms (14 % of kernel time) in 428 launches, 1.44 ms a step\n"
        "  cast up to fp32          176x   3.15 ms    7.9 %  gemm → cast → softmax 48 %\n"
        "  cast down fp32 → fp16    204x   1.80 ms    4.5 %  softmax → cast → gemm 39 %\n"
        "  layout fp16               16x  637.4 us    1.6 %  copy → layout → gemm\n"
        "  3 others                  32x  170.8 us    0.4 %\n"
        "  32 launches (506.6 us, 1.3 %) convert beside other work; not counted above\n"
        "  FP32 master weights need about 1.38 ms of casts; at most 3.72 ms is avoidable\n"
        "  weights are cast once per step; 4 casts (42.6 us) undone soon after\n"
        "  low-precision matrix kernels save, by peaks, over FP32 about 153.6 ms: the\n"
        "    casts pay; over TF32 about 3.74 ms to 12.5 ms: open whether the casts pay\n"
    )


def test_account_of_the_fp32_run() -> None:
    assert text(tensor_lines(analysed(FP32), Page(80))) == (
        "Tensor Cores\n"
        "  171.8 ms of matrix work (88 % of kernel time): 5.8 % of it on Tensor Cores (by\n"
        "    kernel name)\n"
        "  CUDA cores fp32      204x  161.8 ms   94.2 %\n"
        "  Tensor Cores fp32     32x   9.98 ms    5.8 %\n"
        "  why not more: FP32 on CUDA cores 161.8 ms (94 %); attention with FP32 operands\n"
        "    9.98 ms (5.8 %)\n"
    )


def test_conversions_too_small_to_matter_are_told_when_asked_for() -> None:
    assert ledger_lines(analysed(FP32), Page(80)) == []
    assert "layout fp32" in text(ledger_lines(analysed(FP32), Page(80, verbose=True)))
    assert ledger_lines(report(), Page(80, verbose=True)) == []
    assert tensor_lines(report(), Page(80, verbose=True)) == []


def test_bytes_stand_where_there_is_no_order_of_kernels() -> None:
    assert told(conversion(bytes=3e9, measured_ns=5e6)).count("3.00 GB of DRAM traffic") == 1
    assert "at least 3.00 GB" in told(conversion(bytes=3e9, measured_ns=1e6))
    flow = Flow("gemm", "", 100, 5e6)
    assert "gemm → cast → end" in told(conversion(bytes=3e9, flows=(flow,)))


def test_repeated_work_is_said() -> None:
    assert "weights are cast 3 times per step" in told(conversion(), weight_casts=3)
    assert "1 cast (2.00 us) undone soon after" in told(conversion(), pingpong_launches=1, pingpong_ns=2000.0)
    assert "undone" not in told(conversion(), pingpong_launches=0, pingpong_ns=0.0)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("costs more", "over TF32 about 1.00 ms to 2.00 ms: the casts cost more"),
        ("pays", "over TF32 about 1.00 ms: the casts pay"),
        ("undecided", "over TF32 about 1.00 ms to 2.00 ms: open whether the casts pay"),
    ],
)
def test_balance_in_words(verdict: str, words: str) -> None:
    entry = Comparison("TF32", 1e6, 2e6, "16-bit peak 2x TF32", verdict)  # type: ignore[arg-type]
    found = told(conversion(), balance=Balance(5e6, 4e6, 1e6, (entry,)), page=Page(200))
    assert words in found
    assert "assumed GPU" not in found
    guessed = Balance(5e6, 4e6, 1e6, (replace(entry, assumption="16-bit peak 2x TF32; GPU not named"),))
    assert "for an assumed GPU" in told(conversion(), balance=guessed, page=Page(200))


def test_instructions_name_the_kernel_with_most_conversions() -> None:
    counted = Instructions(4e6, 1e8, 0.5, "void quick_gelu<float>(int)", 0.25)
    found = told(conversion(), instructions=counted, page=Page(200))
    assert "at least 4.0 % of the thread instructions convert (counted for 50 % of the time)" in found
    assert "most in quick_gelu" in found
    assert "(25 %)" in found


def test_peak_share_and_what_it_is_known_for() -> None:
    part = TensorPart("Tensor Cores", "bf16", 10, 4e6, 1.0, 0.62, 4e6)
    account = TensorAccount(4e6, 10, 0.4, 4e6, 0.0, 4e6, (part,), (TensorCause("none", "", 4e6, 1.0),))
    assert "62 % of the peak\n" in text(tensor_lines(report(tensor_account=account), Page(80)))
    some = replace(account, parts=(replace(part, measured_ns=1e6),), counted_ns=1e6)
    found = text(tensor_lines(report(tensor_account=some), Page(80)))
    assert "62 % of the peak in 25 % of it" in found
    assert "ncu counted 25 %, the rest" in " ".join(found.split())


def hostile_report() -> Report:
    """A report whose every text of the accounts comes from a hostile name."""
    name = "".join(HOSTILE)
    found = PrecisionLedger(
        (conversion(),), 100, 5e6, 0.05,
        instructions=Instructions(1.0, 2.0, 1.0, name, 0.5), ranges=(RangeCost(name, 1, 1.0, 2.0),),
    )  # fmt: skip
    return report(ledger=found, tensor_account=None)


def test_hostile_names_do_no_harm() -> None:
    found = text(ledger_lines(hostile_report(), Page(80, verbose=True)))
    assert not any(character in found for character in "\x1b\x07\x9b\u202e\t\ud800")


@pytest.mark.parametrize("path", [AMP, FP32, NCU, SQLITE], ids=lambda path: path.name)
def test_json_follows_the_schema(path: Path) -> None:
    document = json.loads(json_reporter.render(analysed(path), RenderOptions()))
    jsonschema.validate(document, strict())
    assert document["ledger"]["conversions"]
    assert sum(part["time_ns"] for part in document["tensor_account"]["parts"]) == pytest.approx(
        document["tensor_account"]["time_ns"]
    )


def test_json_without_accounts_says_null() -> None:
    document = json.loads(json_reporter.render(report(), RenderOptions()))
    assert document["ledger"] is None
    assert document["tensor_account"] is None
    jsonschema.validate(json.loads(json_reporter.render(hostile_report(), RenderOptions())), strict())
