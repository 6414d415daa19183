"""What must hold for any nsys table: both CSV engines agree, order and noise change nothing."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight.errors import InputError
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers import _nsys_read, nsys_csv
from nsight_insight.readers._nsys_cells import read_cells
from nsight_insight.readers.text import SourceText, open_path
from tests.nsys_capture import shuffled
from tests.paths import FIXTURES

FILES = [
    path for path in sorted(FIXTURES.glob("nsys-csv/2025.3-h200-amp/*.csv")) if 0 < path.stat().st_size < 1_100_000
]

NAMES = st.text(alphabet=st.sampled_from("ab,\"<>():[]/ \n'=;#\\é…"), max_size=12)
NUMBERS = st.one_of(
    st.integers(0, 2**53).map(str),
    st.floats(0, 1e12).map(lambda value: f"{value:.4f}"),
    st.sampled_from(["", "None", "1e5", " 7", "nan", "x", "-3", "1_0", "inf", "NA", "0x10", "1,5", "007", "+1", ".5"]),
)


def line_of(cells: list[str]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(cells)
    return file.getvalue().removesuffix("\n")


@given(st.lists(st.tuples(NUMBERS, NAMES, NUMBERS, NAMES), min_size=1, max_size=12))
@settings(deadline=None)
def test_both_engines_read_the_same_cells(rows: list[tuple[str, str, str, str]]) -> None:
    lines = [line_of(list(row)) for row in rows]
    small = read_cells(lines, [0, 2], [1, 3], large=False)
    large = read_cells(lines, [0, 2], [1, 3], large=True)
    for position in (0, 2):
        for left, right in zip(small.numbers[position], large.numbers[position], strict=True):
            np.testing.assert_array_equal(left, right)
    for position in (1, 3):
        assert small.texts[position].tolist() == large.texts[position].tolist() == [row[position] for row in rows]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_both_engines_read_the_same_file(path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = nsys_csv.read(open_path(path))
    monkeypatch.setattr(_nsys_read, "LARGE_BYTES", 0)
    assert_same(small, nsys_csv.read(open_path(path)))


def assert_same(left: ReadResult, right: ReadResult) -> None:
    assert left.issues == right.issues
    for one, other in zip(left.tables, right.tables, strict=True):
        assert one.columns.keys() == other.columns.keys()
        for name in one.columns:
            assert one.columns[name].dtype == other.columns[name].dtype
            np.testing.assert_array_equal(one.columns[name], other.columns[name])
        assert one.source.columns == other.source.columns
        assert one.source.reasons.keys() == other.source.reasons.keys()
        for name in one.source.reasons:
            np.testing.assert_array_equal(one.source.reasons[name], other.source.reasons[name])


@pytest.mark.parametrize("report", ["cuda_gpu_kern_gb_sum", "nvtx_gpu_proj_trace", "cuda_kern_exec_sum"])
@given(seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_the_order_of_columns_changes_nothing_but_places(report: str, seed: int) -> None:
    path = FIXTURES / f"nsys-csv/2025.3-h200-amp/amp_fp16_{report}.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    order = list(range(len(rows[0])))
    order = shuffled(order, seed)
    mixed = "".join(line_of([row[place] for place in order]) + "\n" for row in rows)
    (before,) = nsys_csv.read(open_path(path)).tables
    (after,) = nsys_csv.read(SourceText("mixed", mixed.encode())).tables
    assert after.source.report == report
    for name in before.columns:
        np.testing.assert_array_equal(before.columns[name], after.columns[name])


NOISE = st.lists(st.text(alphabet="abc ,;:#$%0123456789\t", max_size=30).filter(str.strip), max_size=5)


@given(before=NOISE, after=NOISE)
@settings(deadline=None)
def test_program_output_around_tables_changes_nothing_but_lines(before: list[str], after: list[str]) -> None:
    text = (FIXTURES / "nsys-csv/2025.3-h200-amp/msec.csv").read_text()
    alone = nsys_csv.read(SourceText("x", text.encode()))
    noisy = "\n".join([*before, text.rstrip("\n"), "", *after]) + "\n"
    within = nsys_csv.read(SourceText("x", noisy.encode()))
    assert [table.source.report for table in within.tables] == [table.source.report for table in alone.tables]
    for one, other in zip(alone.tables, within.tables, strict=True):
        np.testing.assert_array_equal(one.columns["line"] + len(before), other.columns["line"])
        np.testing.assert_array_equal(one.columns["duration"], other.columns["duration"])


@given(data=st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    check_read(data)


@given(cut=st.integers(0, 18_000), noise=st.binary(max_size=8))
@settings(deadline=None, max_examples=60)
def test_damaged_files_are_read_or_refused(cut: int, noise: bytes) -> None:
    whole = (FIXTURES / "nsys-csv/2025.3-h200-amp/msec.csv").read_bytes()
    check_read(whole[:cut] + noise + whole[cut:])
    check_read(whole[:cut] + noise)


def check_read(data: bytes) -> None:
    text = SourceText("x", data)
    assert 0.0 <= nsys_csv.sniff(text) <= 1.0
    try:
        result = nsys_csv.read(text)
    except InputError:
        return
    for table in result.tables:
        lines = table.columns["line"] if len(table) else np.array([1])
        assert 1 <= lines.min() <= lines.max() <= len(text.lines)
        assert {len(values) for values in table.columns.values()} <= {len(table)}
