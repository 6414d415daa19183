"""The scripts behind generated pages of docs/, and the second count they compare the readers with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nsight_insight.inspection import inspect
from nsight_insight.readers import readers
from tests.paths import CORPUS, FIXTURES, ROOT


@pytest.fixture(autouse=True)
def _docs_on_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield
    for name in ("make_support_matrix", "make_corpus_status", "independent_counts"):
        sys.modules.pop(name, None)


def module(name: str) -> Any:
    return import_module(name)


def test_the_matrix_names_every_reader_and_fixture() -> None:
    script = module("make_support_matrix")
    files = script.fixture_files()
    text = script.matrix()
    assert all(f"| `{name}` |" in text for name in readers())
    assert all(path.relative_to(FIXTURES).as_posix() in text for path in files)
    widths = {line.count(" | ") for line in text.splitlines() if line.startswith("| ")}
    assert widths == {2, 5}


def test_cells_cannot_break_a_table() -> None:
    assert module("make_support_matrix").escaped("a|b\n\x1b[31mc") == "a\\|b c"


def test_a_second_count_agrees_with_the_readers() -> None:
    """Launches and kernel time of every fixture that a few naive lines can count."""
    count = module("independent_counts").independent_count
    compared = set()
    for path in module("make_support_matrix").fixture_files():
        expected = count(path)
        if expected is None:
            continue
        found = inspect(path)
        files, (launches, time) = found.files, expected
        assert sum(file.launches for file in files) == launches, path
        assert sum(file.kernel_ns or 0.0 for file in files) == pytest.approx(time, rel=1e-3), path
        compared |= {file.reader for file in files}
    assert {"ncu_csv", "nsys_csv", "nsys_sqlite", "nsys_text"} <= compared


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello\n", None),
        ('"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n"0","k","1.337.835"\n', None),
        ('"ID","Kernel Name","gpu__time_duration.sum"\n"","","us"\n"0","k","1.5"\n"1","k","2"\n', (2, 3500.0)),
        ("Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,70,7,10.0,k\n\nother\n", (7, 70.0)),
    ],
)
def test_naive_counts(text: str, expected: tuple[int, float] | None, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    assert module("independent_counts").independent_count(path) == expected


@pytest.mark.skipif(not CORPUS.exists(), reason="other people's files are not here")
def test_a_line_of_the_status_page(tmp_path: Path) -> None:
    folder = tmp_path / "nvprof"
    folder.mkdir()
    for name in ("INDEX.tsv", "concurrent-matmul-v100.out", "um-no-kernels-profiled.txt"):
        (folder / name).write_bytes((CORPUS / "nvprof" / name).read_bytes())
    script = module("make_corpus_status")
    first, second = (script.cells(line) for line in script.lines(tmp_path))
    assert first[0] == "`nvprof/concurrent-matmul-v100.out`"
    assert first[-3:] == ["21; 14.313", "21; 14.313", "equal"]
    assert second[-3:-1] == ["", ""]


def test_pages_name_no_place_of_ours() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert "/work" not in text, page
        assert str(ROOT) not in text, page
