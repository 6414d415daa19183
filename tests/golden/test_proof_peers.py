"""Other tools on the proof's captures: they were given what was captured, and are scored by what they said."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import tarfile
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from bench.proof import as_sqlite, peers_score
from bench.proof.cases import load_cases, load_truth
from bench.proof.findings import CAPTURES
from bench.proof.peers import load
from bench.proof.peers_input import RATIO, SHARE, asked_for, long_form
from bench.proof.score import total
from nsight_insight import api
from nsight_insight.rules.loader import builtin_rules

CASES = load_cases()
TRUTH = load_truth()
TOOLS = {"nsys-ai": "nsys", "fournex": "ncu"}


@pytest.mark.parametrize("name", ["P10-bad", "P49-bad", "P52-good", "P118-bad"])
def test_the_database_says_what_the_traces_say(name: str, tmp_path: Path) -> None:
    """Rows and bytes are the same, so that this project finds the same in both."""
    as_sqlite.write(CAPTURES / f"{name}.tar.xz", tmp_path / "case.sqlite")
    database, traces = (
        api.analyze(api.load(path)).findings for path in (tmp_path / "case.sqlite", CAPTURES / f"{name}.tar.xz")
    )
    assert [one.rule for one in database] == [one.rule for one in traces]
    expected = [one.saving.expected_ns for one in traces]
    assert [one.saving.expected_ns for one in database] == pytest.approx(expected, rel=1e-3)


def test_the_database_holds_every_row_and_nothing_of_its_template(tmp_path: Path) -> None:
    archive, target = CAPTURES / "P49-bad.tar.xz", tmp_path / "case.sqlite"
    as_sqlite.write(archive, target)
    with tarfile.open(archive) as file:
        rows = {
            member.name: len(list(csv.reader(io.StringIO(file.extractfile(member).read().decode())))) - 1  # type: ignore[union-attr]
            for member in file.getmembers()
        }
    database = sqlite3.connect(target)
    counts = {
        table: len(database.execute(f"SELECT * FROM {table}").fetchall())  # noqa: S608
        for (table,) in database.execute("SELECT name FROM sqlite_master")
    }
    texts = {text for (text,) in database.execute("SELECT text FROM NVTX_EVENTS")}
    database.close()
    work = sum(counts[f"CUPTI_ACTIVITY_KIND_{kind}"] for kind in ("KERNEL", "MEMCPY", "MEMSET"))
    assert work == rows["cuda_gpu_trace.csv"]
    assert counts["CUPTI_ACTIVITY_KIND_RUNTIME"] == rows["cuda_api_trace.csv"]
    assert counts["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"] == 11
    assert counts["OSRT_API"] == counts["DIAGNOSTIC_EVENT"] == 0
    assert texts == {f"step {number}" for number in range(10)}


def raw(name: str) -> str:
    with tarfile.open(CAPTURES / f"{name}.tar.xz") as archive:
        file = archive.extractfile("raw.csv")
        assert file is not None
        return file.read().decode()


def metrics(text: str) -> dict[str, str]:
    return {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(io.StringIO(text))}


def test_sectors_per_request_are_those_of_the_planted_access() -> None:
    """Lanes 128 bytes apart touch one sector each; neighbours of four bytes share four sectors."""
    assert float(metrics(asked_for(raw("P21-bad")))[RATIO]) == pytest.approx(32, rel=0.05)
    assert float(metrics(asked_for(raw("P21-good")))[RATIO]) == pytest.approx(4, rel=0.05)


def test_the_planted_stall_has_the_largest_share() -> None:
    shares = {
        name.removeprefix(SHARE): float(value)
        for name, value in metrics(asked_for(raw("P77-bad"))).items()
        if name.startswith(SHARE)
    }
    assert max(shares, key=lambda name: shares[name]) == "long_scoreboard"
    assert sum(shares.values()) <= 100.1


def test_the_long_form_has_every_cell_of_the_raw_page() -> None:
    text = raw("P21-bad")
    heading, _, record = csv.reader(io.StringIO(text))
    assert metrics(long_form(text)) == dict(zip(heading[13:], record[13:], strict=True))


@pytest.mark.parametrize("tool", TOOLS)
def test_what_a_tool_said_is_kept_for_every_capture_it_can_read(tool: str) -> None:
    said = load(tool)
    assert said["version"]
    assert set(said["captures"]) == {
        f"{case.id}-{variant}"
        for case in CASES
        if case.tool == TOOLS[tool]
        for variant in (("good",) if case.control else ("bad", "good"))
    }


def test_wording_counts_for_rules_that_exist() -> None:
    known = builtin_rules()
    named = {rule for names in (peers_score.NSYS_AI, peers_score.FOURNEX) for _, rules, _ in names for rule in rules}
    assert [rule for rule in named if not any(fnmatchcase(one, rule) for one in known)] == []


def test_the_scorecard_holds_the_other_tools_scores() -> None:
    written = json.loads((CAPTURES.parent / "scorecard.json").read_text())["scores"]
    for name, command in (("nsys-ai diagnose", "diagnose"), ("nsys-ai root causes", "root_causes")):
        assert written[name] == pytest.approx(vars(total(peers_score.nsys_ai(CASES, TRUTH, command))))
    layouts = [total(peers_score.fournex(CASES, TRUTH, layout)) for layout in peers_score.LAYOUTS]
    assert written["fournex"] == pytest.approx(vars(max(layouts, key=lambda score: (score.top1, score.top3))))


def test_a_finding_counts_in_whatever_place_it_is_said() -> None:
    """Of a repeated kind only the first takes a place, and a heavy kernel's name takes none."""
    said = {one.case.id: one for one in peers_score.nsys_ai(CASES, TRUTH, "diagnose")}
    assert said["P52"].rank == 1
    assert said["P49"].rank == 3
    assert said["P10"].rank is None
