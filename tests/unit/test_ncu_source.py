"""The source page: hottest lines per kernel, attached to launches of other inputs."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from nsight_insight.api import load
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.profile import HotLine, ReadResult
from nsight_insight.readers import ncu_source, read
from nsight_insight.readers._ncu_hot import HOTTEST, stall_name
from nsight_insight.readers.text import from_bytes, open_path
from nsight_insight.views.facts import STALLS
from tests.paths import CORPUS, FIXTURES
from tests.unit.make_ncu import line, wide

FOLDER = FIXTURES / "ncu-source" / "2025.3.1-h200-amp"
CAPTURE = FOLDER / "source.csv"
RAW = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
HEADINGS = ["Address", "Source", "Warp Stall Sampling (All Samples)", "# Samples", "stall_long_sb", "stall_wait",
            "stall_selected", "stall_wait (Not Issued)"]  # fmt: skip


def block(kernel: str, *rows: tuple[str, str, int, int, int], headings: list[str] = HEADINGS) -> list[str]:
    """One launch: rows of address, text, samples, and samples by two reasons."""
    body = [line([a, s, n, n, long, wait, n - long - wait, wait]) for a, s, n, long, wait in rows]
    return [line(["Kernel Name", kernel]) + ",", line(headings), *body]


def read_lines(*lines: str) -> ReadResult:
    return ncu_source.read(from_bytes("s.csv", "\n".join([*lines, ""]).encode()))


def hot(*lines: str) -> list[HotLine]:
    (table,) = read_lines(*lines).tables
    return list(table.hot_lines)


# --- The capture


def test_capture() -> None:
    (table,) = ncu_source.read(open_path(CAPTURE)).tables
    with CAPTURE.open(newline="") as stream:
        rows = list(csv.reader(stream))
    first = rows[2 : next(place for place, row in enumerate(rows[2:], 2) if row[0] == "Kernel Name")]
    samples = Counter({row[0]: int(row[4]) for row in first})
    assert {line.place: line.samples for line in table.hot_lines} == {a: n for a, n in samples.items() if n}
    assert {line.total for line in table.hot_lines} == {sum(samples.values())} == {5}
    hottest = table.hot_lines[0]
    assert (hottest.place, hottest.text, hottest.stall) == (
        "0x7f9ecb7a1400", "STG.E.64 desc[UR4][R2.64], R4", "long_scoreboard",
    )  # fmt: skip
    assert (hottest.launch, hottest.launches, hottest.share) == (0, 1, 0.6)
    cells = rows[(hottest.location.line or 0) - 1]
    assert (cells[0], cells[(hottest.location.column or 0) - 1]) == (hottest.place, "3")


def test_lines_are_attached_to_the_launches_of_the_raw_page() -> None:
    profile = load(RAW, CAPTURE)
    assert len(profile.activities) == 60
    key = profile.hot_lines[0].key
    assert profile.hot_lines_of(key) == profile.hot_lines
    assert [line.samples for line in profile.hot_lines] == [3, 1, 1]
    assert not profile.hot_lines_of("another kernel")
    assert [source.report for source in profile.sources] == ["raw", "source"]


# --- Pages


def test_launches_of_a_kernel_are_added_up() -> None:
    found = hot(
        *block("k(int)", ("0x10", "      LDG R1", 4, 3, 1), ("0x20", "FFMA", 1, 0, 0)),
        *block("k(int)", ("0x10", "      LDG R1", 6, 6, 0), ("0x20", "FFMA", 0, 0, 0)),
        *block("m(int)", ("0x90", "EXIT", 2, 0, 2)),
    )
    assert [(x.kernel, x.place, x.text, x.samples, x.total, x.launches, x.launch) for x in found] == [
        ("k(int)", "0x10", "LDG R1", 10, 11, 2, 0),
        ("k(int)", "0x20", "FFMA", 1, 11, 2, 0),
        ("m(int)", "0x90", "EXIT", 2, 2, 1, 2),
    ]
    assert [(x.stall, x.stall_samples) for x in found] == [("long_scoreboard", 9), ("", 0), ("wait", 2)]


def test_blocks_that_ncu_prints_twice_count_once() -> None:
    one = block("k(int)", ("0x10", "LDG", 4, 3, 1))
    found = hot(*one, *one, *block("k(int)", ("0x10", "LDG", 5, 3, 1)))
    assert [(x.samples, x.launches) for x in found] == [(9, 2)]


def test_only_the_hottest_are_kept() -> None:
    rows = [(hex(16 * n), "NOP", n, 0, 0) for n in range(40)]
    found = hot(*block("k", *rows))
    assert [x.samples for x in found] == list(range(39, 39 - HOTTEST, -1))
    assert {x.total for x in found} == {sum(range(40))}


@pytest.mark.parametrize(
    "name", ["smsp__pcsamp_sample_count", "Warp Stall Sampling (All Cycles)", "Sampling Data (All)"]
)
def test_headings_of_older_versions(name: str) -> None:
    headings = ["Address", "Source", "x", name, "stall_lg", "stall_sleep", "stall_selected", "stall_wait (Not Issued)"]
    (found,) = hot(*block("k", ("0x10", "LDG", 4, 3, 1), headings=headings))
    assert (found.samples, found.stall) == (4, "lg_throttle")


def test_counts_with_separators() -> None:
    text = "\n".join([*block("k", ("0x10", "LDG", 4321, 3, 1))]).replace('"4321"', '"4,321"')
    assert [x.samples for x in hot(text)] == [4321]


def test_source_lines_with_instructions_below_them() -> None:
    headings = ["Line No", "Source", "Address", "Source", "# Samples", "stall_wait"]
    found = hot(
        line(["Kernel Name", "k"]),
        line(["File Name", "/home/somebody/a.cu"]),
        line(headings),
        line(["12", "  x = y;", "", "", "7", "7"]),
        line(["", "", "0x10", "      LDG", "7", "7"]),
    )
    assert [(x.view, x.place, x.text, x.samples, x.total) for x in found] == [
        ("source", "a.cu:12", "x = y;", 7, 7),
        ("sass", "0x10", "LDG", 7, 7),
    ]


def test_texts_are_made_harmless() -> None:
    (found,) = hot(*block("k", ("0x10", "\x1b[31mLDG\u202e R1 ", 1, 1, 0)))
    assert found.text == "LDG R1"


def test_stall_names_are_those_of_the_metrics() -> None:
    page = (
        "barrier branch_resolving dispatch drain imc lg long_sb math membar mio misc no_inst not_selected selected "
        "short_sb sleep sleeping tex wait gmma"
    )
    assert {stall_name(name) for name in page.split(" ")} == set(STALLS)


# --- Damage and refusal


def test_alone_it_is_refused_with_what_is_missing() -> None:
    with pytest.raises(UnrecognizedInput, match="give the report's raw page, too"):
        load(CAPTURE)


def test_rows_that_do_not_fit_are_told() -> None:
    result = read_lines(*block("k", ("0x10", "LDG", 4, 3, 1)), '"0x20","LDG","1"', "noise", '"0x30",cut"')
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, n) for n in (4, 6)]
    assert len(result.tables[0].hot_lines) == 1


def test_a_page_without_samples_says_how_to_collect_them() -> None:
    result = read_lines(line(["Kernel Name", "k"]), line(["Address", "Source"]), line(["0x10", "LDG"]))
    assert "SourceCounters" in result.issues[0].text
    assert not result.tables[0].hot_lines


def test_refusals() -> None:
    with pytest.raises(EmptyInput, match="No lineinfo"):
        read_lines("==WARNING== No lineinfo available to show CUDA-C source related to 'k'.")
    with pytest.raises(EmptyInput, match="without instructions"):
        read_lines(line(["Kernel Name", "k"]) + ",", line(HEADINGS))
    with pytest.raises(UnrecognizedInput, match="no source page"):
        read_lines("hello")
    page = ["-" * 12 + " " + "-" * 30, "Kernel Name  k(int)", "-" * 12 + " " + "-" * 30, "Address      Source"]
    with pytest.raises(UnrecognizedInput, match="print it with --csv"):
        read(from_bytes("s.txt", "\n".join(page).encode()))


# --- Names that differ


def test_names_are_joined_by_order_where_they_are_cut(tmp_path: Path) -> None:
    metrics = {"gpu__time_duration.sum": ["1.000000", "2.000000"]}
    page = wide(metrics, {"gpu__time_duration.sum": "us"}, {"Kernel Name": "void ns::kernel<(int)1>(float *)"})
    (tmp_path / "raw.csv").write_text(page)
    (tmp_path / "s.csv").write_text("\n".join(block("kernel", ("0x10", "LDG", 4, 3, 1))))
    profile = load(tmp_path / "raw.csv", tmp_path / "s.csv")
    assert [line.key for line in profile.hot_lines] == ["kernel<1>"]
    (tmp_path / "s.csv").write_text("\n".join(block("other", ("0x10", "LDG", 4, 3, 1))))
    assert [line.key for line in load(tmp_path / "raw.csv", tmp_path / "s.csv").hot_lines] == ["other"]


def test_of_two_pages_the_one_with_more_samples_counts(tmp_path: Path) -> None:
    page = wide({"gpu__time_duration.sum": ["1.000000"]}, {"gpu__time_duration.sum": "us"}, {"Kernel Name": "k(int)"})
    (tmp_path / "raw.csv").write_text(page)
    for name, samples in (("a.csv", 4), ("b.csv", 40), ("c.csv", 9)):
        (tmp_path / name).write_text("\n".join(block("k(int)", ("0x10", "LDG", samples, 3, 1))))
    profile = load(tmp_path / "raw.csv", *(tmp_path / f"{name}.csv" for name in "abc"))
    assert [line.samples for line in profile.hot_lines] == [40]


@pytest.mark.skipif(not CORPUS.exists(), reason="published files absent")
@pytest.mark.parametrize(
    ("name", "launches", "total"),
    [("h100_source_sass_cli2024.csv", 3, 51_339), ("a100_source_sass_cli2022.csv", 1, 3_669_964)],
)
def test_published_pages(name: str, launches: int, total: int) -> None:
    (table,) = ncu_source.read(open_path(CORPUS / "ncu" / "cli" / name)).tables
    assert {(line.launches, line.total) for line in table.hot_lines} == {(launches, total)}
