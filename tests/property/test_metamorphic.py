"""What must not change a verdict: row and column order, split files, file names, process names, units, input order."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nsight_insight as ni
from nsight_insight.config import Config, Threshold
from nsight_insight.model.finding import Report
from tests.paths import FIXTURES

FP32 = FIXTURES / "nsys-csv" / "2025.3-h200-fp32" / "fp32_cuda_gpu_kern_sum.csv"
AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_kern_sum.csv"
TRACE = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_trace.csv"
RAW = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw_fp32.csv"
DETAILS = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "details_fp32.csv"
ALL = Config(min_saving=Threshold(share=0.0))
SLOW = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def outline(report: Report) -> list[tuple[object, ...]]:
    """Findings by rule and kernels with savings to a thousandth of a nanosecond, order included."""
    return [
        (
            f.rule,
            sorted(m.kernel for m in f.subject.members),
            f.confidence,
            round(f.saving.expected_ns, 3),
            round(f.saving.upper_ns, 3),
            round(f.subject.time_share, 9),
            sorted(e.rule for e in f.explains),
        )
        for f in report.findings
    ]


def analyse(*paths: Path) -> Report:
    return ni.analyze(ni.load(*paths), ALL)


EXPECTED = {path: outline(analyse(path)) for path in (FP32, AMP, TRACE, RAW, DETAILS)}


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


@SLOW
@given(seed=st.integers(0, 10_000))
@pytest.mark.parametrize("path", [FP32, AMP, TRACE], ids=lambda p: p.name)
def test_row_order_does_not_matter(path: Path, seed: int, tmp_path: Path) -> None:
    head, *rows = lines_of(path)
    random.Random(seed).shuffle(rows)  # noqa: S311
    shuffled = tmp_path / "x.csv"
    shuffled.write_text(head + "".join(rows), encoding="utf-8")
    assert outline(analyse(shuffled)) == EXPECTED[path]


@SLOW
@given(cut=st.integers(2, 40))
@pytest.mark.parametrize("path", [FP32, AMP, TRACE], ids=lambda p: p.name)
def test_a_file_split_in_two_gives_the_same(path: Path, cut: int, tmp_path: Path) -> None:
    head, *rows = lines_of(path)
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(head + "".join(rows[:cut]), encoding="utf-8")
    two.write_text(head + "".join(rows[cut:]), encoding="utf-8")
    assert outline(analyse(one, two)) == EXPECTED[path]
    assert outline(analyse(two, one)) == EXPECTED[path]


def test_an_ncu_page_split_in_two_gives_the_same(tmp_path: Path) -> None:
    head, units, *rows = lines_of(RAW)
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(head + units + "".join(rows[:23]), encoding="utf-8")
    two.write_text(head + units + "".join(rows[23:]), encoding="utf-8")
    assert outline(analyse(one, two)) == EXPECTED[RAW]


@pytest.mark.parametrize("path", [FP32, TRACE, RAW, DETAILS], ids=lambda p: p.name)
def test_column_order_does_not_matter(path: Path, tmp_path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    order = random.Random(7).sample(range(len(head)), len(head))  # noqa: S311
    with (tmp_path / "x.csv").open("w", newline="", encoding="utf-8") as file:
        quoting = csv.QUOTE_ALL if path in (RAW, DETAILS) else csv.QUOTE_MINIMAL
        writer = csv.writer(file, quoting=quoting)
        for row in [head, *rows]:
            full = [*row, *[""] * (len(head) - len(row))]
            writer.writerow([full[place] for place in order])
    assert outline(analyse(tmp_path / "x.csv")) == EXPECTED[path]


@pytest.mark.parametrize("path", [FP32, TRACE, RAW, DETAILS], ids=lambda p: p.name)
def test_the_file_name_says_nothing(path: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "holiday photos.txt"
    renamed.write_bytes(path.read_bytes())
    assert outline(analyse(renamed)) == EXPECTED[path]


@pytest.mark.parametrize("path", [RAW, DETAILS], ids=lambda p: p.name)
def test_the_process_name_says_nothing(path: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "x.csv"
    text = path.read_text(encoding="utf-8")
    assert '"python3.12"' in text
    renamed.write_text(text.replace('"python3.12"', '"my, ""odd"" program"'), encoding="utf-8")
    assert outline(analyse(renamed)) == EXPECTED[path]


@pytest.mark.parametrize("path", [RAW, DETAILS, AMP], ids=lambda p: p.name)
def test_noise_around_and_line_ends_say_nothing(path: Path, tmp_path: Path) -> None:
    noisy = tmp_path / "x.log"
    body = path.read_text(encoding="utf-8").replace("\n", "\r\n")
    noisy.write_bytes(b'\xef\xbb\xbfstep 1 loss 2.3\r\nhello, "world"\r\n' + body.encode() + b"bye\r\n")
    assert outline(analyse(noisy)) == EXPECTED[path]


def test_the_same_file_twice_counts_once() -> None:
    assert outline(analyse(AMP, AMP)) == EXPECTED[AMP]


def test_order_of_inputs_does_not_matter() -> None:
    api = AMP.with_name("amp_fp16_cuda_api_sum.csv")
    assert outline(analyse(TRACE, api, AMP)) == outline(analyse(AMP, api, TRACE))


def test_time_unit_changes_savings_only_by_rounding() -> None:
    """``--timeunit msec`` prints a few decimals of a millisecond."""
    exact, rounded = analyse(AMP), analyse(AMP.with_name("msec.csv"))
    assert [f.rule for f in rounded.findings] == [f.rule for f in exact.findings]
    for ours, theirs in zip(exact.findings, rounded.findings, strict=True):
        assert theirs.saving.expected_ns == pytest.approx(ours.saving.expected_ns, rel=0.02, abs=2000)
