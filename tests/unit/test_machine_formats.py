"""What all formats for machines share, and what must hold for every format there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nsight_insight.model.finding import Saving
from nsight_insight.model.issues import Location
from nsight_insight.model.profile import ColumnOrigin, Source
from nsight_insight.model.totals import Totals
from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format_for, reporters
from nsight_insight.reporters._machine import Places, as_posix, fingerprints, number
from nsight_insight.reporters.options import RenderOptions
from tests.paths import FIXTURES, ROOT
from tests.unit.make_ci_report import NASTY, healthy, nasty, three
from tests.unit.make_report import KERNEL_NS, optimizer_loop, report

NEW = ("csv", "github", "gitlab", "junit", "markdown", "prometheus", "sarif")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def test_every_format_is_found_by_scanning() -> None:
    assert set(NEW) <= set(reporters())
    for name, module in reporters().items():
        assert name == module.NAME
        assert Path(f"{module.__file__}").stem == name  # type: ignore[attr-defined]
        assert all(ending.startswith(".") or name == "gitlab" for ending in module.EXTENSIONS)


@pytest.mark.parametrize(
    ("path", "format_"),
    [
        ("r.json", "json"),
        ("gl-code-quality-report.json", "gitlab"),
        ("r.codequality.json", "gitlab"),
        ("r.sarif", "sarif"),
        ("r.sarif.json", "sarif"),
        ("R.MD", "markdown"),
        ("r.txt", "text"),
        ("r.github.txt", "github"),
        ("r.csv", "csv"),
        ("r.junit.xml", "junit"),
        ("r.prom", "prometheus"),
        ("r", None),
        ("markdown", None),
        (".json/r", None),
    ],
)
def test_the_longest_extension_chooses(path: str, format_: str | None) -> None:
    assert format_for(path) == format_


def test_no_two_formats_claim_one_extension() -> None:
    endings = [ending for module in reporters().values() for ending in module.EXTENSIONS]
    assert len(endings) == len(set(endings))


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("text", NASTY)
def test_hostile_names_bring_no_control_characters(name: str, text: str) -> None:
    out = reporters()[name].render(nasty(text), RenderOptions(verbose=True))
    assert out.endswith("\n")
    assert not CONTROL.search(out)
    out.encode("utf-8")


@pytest.mark.parametrize("name", NEW)
def test_presentation_for_terminals_changes_nothing(name: str) -> None:
    render = reporters()[name].render
    assert render(three(), RenderOptions(width=60, color=True, unicode=False)) == render(three(), RenderOptions())


@pytest.mark.parametrize("name", NEW)
def test_a_report_without_findings_says_so(name: str) -> None:
    out = reporters()[name].render(healthy(), RenderOptions())
    expected = {
        "csv": "rank,rule,title",
        "gitlab": "[]\n",
        "sarif": '"results": []',
        "prometheus": 'nsight_insight_findings{severity="error"} 0',
    }
    assert expected.get(name, "No finding. 31 rules checked 46 kernels") in out


def test_all_formats_give_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    files = {name: f"r{reporters()[name].EXTENSIONS[0]}" for name in NEW}
    files["gitlab"] = "gl-code-quality-report.json"
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        targets = [part for file in files.values() for part in ("-o", str(tmp_path / seed / file))]
        subprocess.run(
            [sys.executable, "-m", "nsight_insight", "analyze", "--no-config", str(FIXTURES / "demo"), *targets],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
    for file in files.values():
        first, second = ((tmp_path / seed / file).read_bytes() for seed in ("1", "2"))
        assert first == second
        assert len(first) > 200


def test_new_formats_need_no_heavy_library() -> None:
    script = (
        "import sys; from tests.unit.make_report import *; from nsight_insight.reporters import reporter;"
        "from nsight_insight.reporters.options import RenderOptions;"
        f"heavy = [m for m in ('pandas', 'rich', 'jinja2', 'matplotlib') if m in sys.modules];"
        f"[reporter(n).render(report(), RenderOptions()) for n in {NEW!r}];"
        "sys.exit(str([m for m in ('pandas', 'rich', 'jinja2', 'matplotlib') if m in sys.modules and m not in heavy]))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"


def test_numbers_are_rounded_and_never_nan() -> None:
    assert number(0.1 + 0.2) == 0.3
    assert number(5.0) == 5
    assert isinstance(number(5.0), int)
    assert number(float("nan")) is number(float("inf")) is number(None) is None


def test_fingerprints_stay_where_they_are_unique_and_differ_where_not() -> None:
    def on(key: str) -> tuple[object, ...]:
        return tuple(replace(member, key=key) for member in optimizer_loop().subject.members)

    base = optimizer_loop()
    first = replace(base, subject=replace(base.subject, members=on("k<1>")))
    second = replace(base, subject=replace(base.subject, members=on("k<2>")))
    other = replace(base, fingerprint="other")
    found = fingerprints([first, other, second])
    assert found[1] == "other"
    assert len(set(found)) == 3
    assert all(name.startswith(f"{base.fingerprint}-") for name in (found[0], found[2]))
    # Whatever their rank: the same finding keeps its identity.
    assert fingerprints([second, first]) == [found[2], found[0]]
    assert len(set(fingerprints([first, first]))) == 2


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("./a/b.csv", "a/b.csv"),
        ("-", "-"),
        ("/x/y.csv", "/x/y.csv"),
        ("C:\\x\\y.csv", "C:/x/y.csv"),
        ("a.zip!b.csv", "a.zip!b.csv"),
        ("a\x1b[31m.csv", "a.csv"),
    ],
)
def test_paths(path: str, shown: str) -> None:
    assert as_posix(path) == shown


def test_only_lines_of_text_files_are_lines_and_only_characters_are_columns() -> None:
    import numpy as np

    places = Places(
        [
            Source("t.csv", "nsys_csv", "nsys", "x", columns={"duration": (ColumnOrigin("Duration (ns)", 2),)}),
            Source("t.txt", "ncu_text", "ncu", "details",
                   columns={"duration": (ColumnOrigin("Duration", None, columns=np.array([7])),)}),
            Source("t.ncu-rep", "ncu_rep", "ncu", "raw", columns={"duration": (ColumnOrigin("gpu__time", None),)}),
            Source("t.sqlite", "nsys_sqlite", "nsys", "x", table="K", columns={"x": (ColumnOrigin("end", None),)}),
        ]
    )  # fmt: skip

    def seen(*location: object, **more: str) -> tuple[int | None, int | None]:
        place = Location(*location, **more)  # type: ignore[arg-type]
        return places.line(place), places.column(place)

    assert seen("t.csv", 5, 2) == (5, None)
    assert seen("t.txt", 5, 7) == (5, 7)
    assert seen("t.ncu-rep", 5) == (None, None)
    assert seen("t.sqlite", 5, table="K") == (None, None)
    assert seen("not-read.csv", 5, 2) == (5, None)
    assert seen("t.csv", 0) == seen("t.csv") == (None, None)


def test_headline() -> None:
    assert words.headline(three()) == (
        "3 findings, about 159.4 ms of 194.3 ms (82 %) together, at most 167.4 ms"
    )  # fmt: skip
    assert words.headline(report(optimizer_loop())) == "1 finding, about 1.90 ms of 194.3 ms (1.0 %), at most 2.00 ms"
    none = report(potential=Saving(0.0, 0.0, 0.0, "all", ""))
    assert words.headline(none) == "2 findings, none with a saving of GPU time of its own"
    assert "This is no clean bill: 3 rules could not be judged." in words.headline(healthy())


def test_a_saving_names_the_time_that_it_is_a_share_of() -> None:
    saving = Saving(8e6, 31e6, 0.08, "host", "")
    assert words.saving(saving, KERNEL_NS) == "saves about 8.00 ms of 194.3 ms (8.0 %), at most 31.0 ms"
    assert "of 100.0 ms (8.0 %)" in words.saving(replace(saving, base_ns=100e6), KERNEL_NS)
    assert words.saving(replace(saving, upper_ns=0.0), KERNEL_NS) == "no saving of GPU time of its own"


def test_busy_time_prefers_the_steady_state() -> None:
    whole = Totals(KERNEL_NS, 1, 1, copy_ns=2e6, gpu_busy_ns=200e6, window_ns=800e6)
    assert words.busy(whole) == (
        "copies 2.00 ms · GPU busy 200.0 ms of 800.0 ms (25 %; whole capture, start-up included)", 0.75
    )  # fmt: skip
    steady = replace(whole, steady_busy_ns=90e6, steady_window_ns=100e6, steady_steps=4)
    text, idle = words.busy(steady)
    assert text.endswith("GPU busy 90.0 ms of 100.0 ms (90 %; 4 steps after warm-up)")
    assert idle == pytest.approx(0.1)
    assert words.idle_warning(idle) == ""
    assert "GPU idle 75 %" in words.idle_warning(0.75)
    assert words.busy(Totals(KERNEL_NS, 1, 1)) == ("", 0.0)
