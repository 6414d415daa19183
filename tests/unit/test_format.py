from __future__ import annotations

import csv
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.model.finding import Quantity
from nsight_insight.model.issues import Location
from nsight_insight.model.text import clean, duration
from nsight_insight.reporters import format as fmt
from tests.paths import CAPTURES
from tests.unit.make_report import ADDCDIV, GEMMS, HARMLESS, HOSTILE

CAPTURE = CAPTURES / "h200-amp/nsys/stats-fp32/fp32_cuda_gpu_kern_sum.csv"


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (161_841_572.0, "161.8 ms"),
        (12_345.0, "12.3 us"),
        (840.0, "840 ns"),
        (999_960.0, "1.00 ms"),
        (999.96, "1.00 us"),
        (1_250_000_000.0, "1.25 s"),
        (0.0, "0 ns"),
        (None, "unknown"),
    ],
)
def test_time(ns: float | None, text: str) -> None:
    assert fmt.time(ns) == text


@given(st.floats(min_value=1e-9, max_value=1e5))
def test_a_duration_read_back_is_within_rounding(seconds: float) -> None:
    number, unit = duration(seconds).split()
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]
    assert float(number.replace(",", "")) * scale == pytest.approx(seconds, rel=6e-3)


def test_times_of_a_column_share_their_unit() -> None:
    assert fmt.times([161_841_572.0, 13_061_000.0, 117_244.0]) == ["161.8 ms", "13.1 ms", "0.1 ms"]
    assert fmt.times([500.0, 20.0]) == ["500.0 ns", "20.0 ns"]
    assert fmt.times([]) == []


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.77, "77 %"),
        (0.0953, "10 %"),
        (0.041, "4.1 %"),
        (0.0096, "1.0 %"),
        (0.004, "0.40 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
    ],
)
def test_share(fraction: float, text: str) -> None:
    assert fmt.share(fraction) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1, "launch"), "1 launch"),
        ((3120, "launch"), "3,120 launches"),
        ((2, "kernel"), "2 kernels"),
        ((0, "finding"), "0 findings"),
        ((2, "more file"), "2 more files"),
    ],
)
def test_count(arguments: tuple[int, str], text: str) -> None:
    assert fmt.count(*arguments) == text


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Quantity("a", 0.833, "fraction"), "83.3 %"),
        (Quantity("a", 4.0e9, "byte"), "4.00 GB"),
        (Quantity("a", 4.8e12, "byte/s"), "4.80 TB/s"),
        (Quantity("a", 1.98e9, "Hz"), "1.98 GHz"),
        (Quantity("a", 0.1618, "s"), "161.8 ms"),
        (Quantity("a", 3120.0, "1"), "3,120"),
        (Quantity("a", "fp32", ""), "fp32"),
        (Quantity("a", None, "s"), "unknown"),
        (Quantity("a", float("nan"), "fraction"), "unknown"),
    ],
)
def test_value(quantity: Quantity, text: str) -> None:
    assert fmt.value(quantity) == text


def test_place_names_the_cell() -> None:
    location = Location("runs/a.csv", 12, 340, "sm__throughput.avg.pct")
    assert fmt.place(location) == "a.csv:12:340 sm__throughput.avg.pct"
    assert fmt.place(location, full=True) == "runs/a.csv:12:340 sm__throughput.avg.pct"
    assert fmt.place(Location(r"C:\runs\a.csv", 12)) == "a.csv:12"
    assert fmt.place(Location("-", 3, table="CUPTI")) == "-:CUPTI:3"


@pytest.mark.parametrize(("name", "harmless"), list(zip(HOSTILE, HARMLESS, strict=True)))
def test_hostile_names_become_harmless_and_stay_readable(name: str, harmless: str) -> None:
    assert harmless in fmt.flow(clean(name))
    (short,) = fmt.kernels([name], 80)
    assert short
    assert short in harmless or short in clean(name)
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in short)


@given(st.text())
def test_clean_leaves_nothing_a_terminal_acts_on(text: str) -> None:
    cleaned = clean(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in cleaned)
    assert clean(cleaned) == cleaned


def test_clean_removes_hyperlinks_and_titles_whole() -> None:
    assert clean("a\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\b\x1b]0;title\x07c") == "alinkbc"


@given(st.text(min_size=1), st.integers(min_value=1, max_value=60))
def test_cut_fits_and_only_shortens(text: str, width: int) -> None:
    shown = fmt.cut(text, width)
    assert len(shown) <= width
    if len(text) <= width:
        assert shown == text
    else:
        head, _, tail = shown.partition("…") if "…" not in text else (shown[:0], "", "")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_short_names_keep_what_differs() -> None:
    names = [kernel for _, kernel, _, _ in GEMMS]
    for width in (48, 56, 90):
        shown = fmt.kernels(names, width)
        assert len(set(shown)) == len(names), width
        assert all(len(name) <= width for name in shown)


def test_a_vehicle_is_cut_before_what_it_carries() -> None:
    (shown,) = fmt.kernels([ADDCDIV], 40)
    assert shown.endswith("[addcdiv_cuda_kernel float]")
    assert len(shown) <= 40


@pytest.mark.skipif(not CAPTURE.exists(), reason="captures are not part of the project")
def test_real_names_stay_different_at_80_columns() -> None:
    with CAPTURE.open(newline="", encoding="utf-8") as file:
        names = [row["Name"] for row in csv.DictReader(file)]
    shown = fmt.kernels(names, 49)
    assert len(set(shown)) >= 0.9 * len(names)
    assert all(len(name) <= 49 for name in shown)
    assert not [name for name in shown if re.search(r"^void |\(int\)|<unnamed>", name)]


def test_block_keeps_lines_and_flow_does_not() -> None:
    assert fmt.block("with x:\n\ty = 1\x1b[31m\n") == ["with x:", "    y = 1"]
    assert fmt.flow("a\n b\tc\x1b[31md") == "a b cd"
