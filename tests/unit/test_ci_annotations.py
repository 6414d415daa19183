"""GitHub annotations and GitLab code quality, read back as the two servers read them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from nsight_insight.model.finding import Report
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ColumnOrigin, Source
from nsight_insight.model.text import clean
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters import github, gitlab
from nsight_insight.reporters._machine import as_posix
from nsight_insight.reporters.options import RenderOptions
from tests.unit.make_ci_report import NASTY, REAL, healthy, large, nasty, real, three
from tests.unit.make_report import FILE, fp32_matrix, optimizer_loop, report

COMMAND = re.compile(r"::(notice|warning|error) ([^:]*)::(.*)")
"""What a runner takes for a command: escaped properties hold neither colons nor commas."""


def unescaped(text: str, *, in_property: bool) -> str:
    """As the runner does it: ``%25`` last."""
    pairs = [("%0D", "\r"), ("%0A", "\n"), *((("%3A", ":"), ("%2C", ",")) if in_property else ()), ("%25", "%")]
    for escaped, plain in pairs:
        text = text.replace(escaped, plain)
    return text


def commands(one: Report, **options: Any) -> list[tuple[str, dict[str, str], str]]:
    found = []
    for line in github.render(one, RenderOptions(**options)).splitlines():
        parsed = COMMAND.fullmatch(line)
        assert parsed, line
        pairs = [part.partition("=") for part in parsed[2].split(",")]
        properties = {name: unescaped(value, in_property=True) for name, _, value in pairs}
        found.append((parsed[1], properties, unescaped(parsed[3], in_property=False)))
    return found


def test_github_snapshot(snapshot: SnapshotAssertion) -> None:
    assert github.render(three(), RenderOptions()) == snapshot


def test_gitlab_snapshot(snapshot: SnapshotAssertion) -> None:
    assert gitlab.render(report(optimizer_loop()), RenderOptions()) == snapshot


def test_annotations_carry_level_place_and_verdict() -> None:
    found = commands(three())
    assert [command for command, _, _ in found] == ["warning", "error", "notice", "notice"]
    _, properties, message = found[0]
    title = "Matrix multiplication in FP32 on CUDA cores (tensor-core/fp32-matrix-on-cuda-cores)"
    assert properties == {"file": FILE, "line": "2", "title": title}
    assert "83.3 % of kernel time" in message
    assert "Saves about 149.5 ms of 194.3 ms (77 %), at most 156.3 ms (high confidence)." in message
    assert "What to do: Run matrix work in BF16 (or FP16 on compute capability 7.x); Allow TF32" in message


def test_only_the_largest_findings_are_annotated() -> None:
    found = commands(large(14))
    assert len([title for _, properties, _ in found if (title := properties["title"]).startswith("Optimizer")]) == 10
    left_out = "4 more findings in the full report. 300 rules could not be judged."
    assert ("notice", {"title": "nsight-insight"}, left_out) in found
    assert len(commands(three(), top=1)) == 2


def test_no_finding_is_one_notice() -> None:
    (notice,) = commands(healthy())
    assert notice[0] == "notice"
    assert notice[2].startswith("No finding. 31 rules checked 46 kernels")
    assert notice[2].count("could not be judged") == 1


def test_lost_input_is_annotated_where_it_was_lost() -> None:
    issues = (
        Issue(Level.INFO, "a remark", Location(FILE, 1)),
        Issue(Level.DATA_LOSS, "row dropped", Location(FILE, 31, 4)),
        Issue(Level.ERROR, "not a profile, at all", Location("b,c.csv", 2)),
    )
    command, properties, message = commands(report(issues=issues))[-1]
    assert command == "warning"
    assert properties == {"file": "b,c.csv", "line": "2", "title": "nsight-insight: input problems"}
    assert message == "2 problems while reading, the worst: error: not a profile, at all"


def test_standard_input_is_no_file_and_characters_are_columns() -> None:
    source = Source("a.txt", "ncu_text", "ncu", "details",
                    columns={"duration": (ColumnOrigin("Duration", None, columns=np.array([9])),)})  # fmt: skip
    stdin = replace(optimizer_loop(), location=Location("-", 4, 2))
    text = replace(fp32_matrix(), location=Location("a.txt", 4, 9))
    found = commands(report(stdin, text, sources=(source,)))
    assert "file" not in found[0][1]
    assert {key: found[1][1][key] for key in ("file", "line", "col")} == {"file": "a.txt", "line": "4", "col": "9"}


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names_make_no_commands_of_their_own(name: str) -> None:
    found = commands(nasty(name))
    assert [command for command, _, _ in found] == ["notice", "warning", "notice", "warning"]
    assert found[0][1]["file"] == as_posix(name)
    assert found[0][2].startswith(fmt.flow(name))
    for line in github.render(nasty(name), RenderOptions()).splitlines():
        assert line.startswith("::")


@pytest.mark.parametrize("fixture", REAL)
def test_real_reports(fixture: str) -> None:
    one = real(fixture)
    titles = [properties["title"] for _, properties, _ in commands(one)]
    assert titles[: len(one.findings)] == [f"{finding.title} ({finding.rule})" for finding in one.findings][:10]
    entries = json.loads(gitlab.render(one, RenderOptions()))
    assert [entry["check_name"] for entry in entries] == [finding.rule for finding in one.findings]


def test_code_quality_entries_have_what_gitlab_wants() -> None:
    entries = json.loads(gitlab.render(three(), RenderOptions()))
    assert [entry["severity"] for entry in entries] == ["minor", "major", "info"]
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["location"]["path"] == FILE
        assert not entry["location"]["path"].startswith(("/", "./"))
        assert isinstance(entry["location"]["lines"]["begin"], int)
    assert entries[0]["fingerprint"] == fp32_matrix().fingerprint
    assert len(json.loads(gitlab.render(three(), RenderOptions(top=2)))) == 2


@pytest.mark.parametrize("name", NASTY)
def test_code_quality_fingerprints_are_unique_and_names_whole(name: str) -> None:
    twice = nasty(name)
    entries = json.loads(gitlab.render(replace(twice, findings=twice.findings * 2), RenderOptions()))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == 4
    assert fmt.flow(name) in entries[0]["description"]
    assert entries[0]["location"] == {"path": as_posix(clean(name)), "lines": {"begin": 3}}


def test_code_quality_has_a_line_where_the_input_has_none() -> None:
    row = replace(optimizer_loop(), location=Location("a.sqlite", 1_234, table="KERNEL"))
    (entry,) = json.loads(gitlab.render(report(row), RenderOptions()))
    assert entry["location"]["lines"]["begin"] == 1
