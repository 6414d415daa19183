"""Texts that hold tables of several tools: every pair of real outputs, in either order, with output between them."""

from __future__ import annotations

import re
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest

from nsight_insight import api
from nsight_insight.errors import InputError, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers import _nsys_text_scan, nsys_csv, nvprof, read
from nsight_insight.readers._mixed import others, read_all
from nsight_insight.readers.text import SourceText, from_bytes
from tests.paths import FIXTURES

FILES = {
    "nsys_csv": FIXTURES / "nsys-csv/2025.3-h200-amp/default_stdout.csv",
    "nsys_text": FIXTURES / "nsys-text/2025.3-h200-amp/analyze.txt",
    "ncu_text": FIXTURES / "ncu-text/2025.3.1-h200-amp/details.txt",
    "ncu_csv": FIXTURES / "ncu-csv/2025.3.1-h200-amp/details.csv",
    "nvprof_text": FIXTURES / "nvprof/made-8-to-11/gpu-trace.txt",
    "nvprof_csv": FIXTURES / "nvprof/made-8-to-11/gpu-trace.csv",
}
BETWEEN = b"\nloss 0.53, accuracy 91 %\n$ ncu ./train\n"
Shape = list[tuple[str, int]]


@cache
def data_of(name: str) -> bytes:
    return FILES[name].read_bytes()


@cache
def alone(name: str) -> ReadResult:
    return read(from_bytes(name, data_of(name)))


def shape(result: ReadResult) -> Shape:
    return sorted((table.source.report, len(table)) for table in result.tables)


@pytest.mark.parametrize(("first", "second"), list(permutations(FILES, 2)))
def test_each_tool_is_read_as_if_it_stood_alone(first: str, second: str) -> None:
    both = read(from_bytes("job.log", data_of(first) + BETWEEN + data_of(second)))
    assert shape(both) == sorted([*shape(alone(first)), *shape(alone(second))])
    assert not [issue for issue in both.issues if issue.level > Level.INFO]


def test_rows_of_a_mixture_point_into_it(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_bytes(data_of("nsys_csv") + BETWEEN + data_of("ncu_text"))
    profile = api.load(log)
    lines = log.read_text().splitlines()
    tools = {source.tool for source in profile.sources}
    assert tools == {"nsys", "ncu"}
    frame = profile.activities
    ncu = next(number for number, source in enumerate(profile.sources) if source.tool == "ncu")
    row = int(frame.index[frame["source"] == ncu][0])
    place = profile.locate(row, "duration")
    assert place.line is not None
    assert "Duration" in lines[place.line - 1]


def test_what_cannot_be_read_beside_a_table_is_said() -> None:
    text = SourceText("x", b"x")

    def read_one(name: str) -> ReadResult:
        if name == "broken":
            raise UnrecognizedInput("no page of it", path="x", line=7)
        return alone("nsys_csv")

    merged = read_all(["good", "broken"], read_one, text.path)
    (said,) = [issue for issue in merged.issues if issue.level == Level.DATA_LOSS]
    assert "broken finds something" in said.text
    assert said.location.line == 7
    with pytest.raises(InputError, match="no page of it"):
        read_all(["broken"], read_one, text.path)


def test_a_table_claimed_twice_counts_once() -> None:
    merged = read_all(["one", "again"], lambda _: alone("nsys_csv"), "x")
    assert shape(merged) == shape(alone("nsys_csv"))


def test_readers_that_find_each_others_tables_are_not_asked_twice() -> None:
    scores = [(0.95, "nsys_csv"), (0.95, "nsys_text"), (0.9, "ncu_text"), (0.6, "ncu_csv")]
    assert others("nsys_text", scores) == ["ncu_text"]


QUICK = [
    (_nsys_text_scan.MAYBE, _nsys_text_scan._PIECES),
    (nsys_csv._HINT, nsys_csv._HINTS),
    (nvprof._BANNER, nvprof._BANNERS),
    (nvprof._HEADING, nvprof._HEADINGS),
]


@pytest.mark.parametrize(("pattern", "pieces"), QUICK, ids=["nsys text", "nsys csv", "nvprof banner", "nvprof heading"])
def test_the_quick_look_never_hides_a_match(pattern: re.Pattern[str], pieces: tuple[str, ...]) -> None:
    """Every single line of real outputs that the pattern matches holds one of the pieces."""
    matched = 0
    for path in sorted(FIXTURES.glob("*/*/*")):
        if path.suffix in (".csv", ".txt", ".log", ".out", ".md", ".tsv") and path.stat().st_size < 1 << 20:
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                if pattern.search(line):
                    matched += 1
                    assert any(piece in line for piece in pieces), line
    assert matched > 3
