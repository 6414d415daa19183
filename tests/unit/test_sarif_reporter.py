"""SARIF 2.1.0, checked against the official schema (``tests/data``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from nsight_insight.model.finding import Report
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ColumnOrigin, Source
from nsight_insight.model.text import clean
from nsight_insight.reporters._machine import as_posix
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.reporters.sarif import MEMBERS, RESULTS, render
from tests.paths import FIXTURES, ROOT
from tests.unit.make_ci_report import NASTY, REAL, healthy, large, nasty, real, three
from tests.unit.make_report import FILE, fp32_matrix, idle_device, optimizer_loop, report


@lru_cache(maxsize=1)
def validator() -> jsonschema.Draft7Validator:
    schema = json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft7Validator(schema)


def log(one: Report, **options: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(render(one, RenderOptions(**options)))
    return loaded


def run(one: Report, **options: Any) -> dict[str, Any]:
    first: dict[str, Any] = log(one, **options)["runs"][0]
    return first


def values(node: Any, key: str) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == key)
        for value in node.values():
            yield from values(value, key)
    elif isinstance(node, list):
        for item in node:
            yield from values(item, key)


REPORTS = {
    "three": three(),
    "healthy": healthy(),
    "large": large(40),
    **{f"nasty {index}": nasty(name) for index, name in enumerate(NASTY)},
}


@pytest.mark.parametrize("name", REPORTS)
def test_output_obeys_the_schema(name: str) -> None:
    assert list(validator().iter_errors(log(REPORTS[name]))) == []


@pytest.mark.parametrize("fixture", REAL)
def test_real_reports_obey_the_schema(fixture: str) -> None:
    one = real(fixture)
    document = log(one)
    assert list(validator().iter_errors(document)) == []
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == [f.rule for f in one.findings]
    assert len(one.findings) >= 3


@pytest.mark.parametrize("path", [("version",), ("runs", 0, "results", 0, "message"), ("runs", 0, "tool", "driver")])
def test_the_schema_notices_what_is_missing(path: tuple[Any, ...]) -> None:
    document = log(three())
    parent: Any = document
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    assert list(validator().iter_errors(document))


def test_snapshot(snapshot: SnapshotAssertion) -> None:
    assert render(report(optimizer_loop()), RenderOptions()) == snapshot


def test_a_result_says_what_where_and_how_much() -> None:
    first = run(three())["results"][0]
    finding = fp32_matrix()
    assert (first["ruleId"], first["level"]) == (finding.rule, "warning")
    assert first["rank"] == pytest.approx(100 * finding.saving.share)
    assert "Saves about 149.5 ms of 194.3 ms (77 %), at most 156.3 ms (high confidence)." in first["message"]["text"]
    assert "What to do: Run matrix work in BF16" in first["message"]["text"]
    place = first["locations"][0]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": FILE}, "region": {"startLine": 2}}
    assert place["properties"] == {"field": "Total Time (ns)", "field_number": 2}
    assert first["partialFingerprints"]["nsightInsight/v1"] == finding.fingerprint
    assert first["properties"]["saving"]["expected_ns"] == pytest.approx(finding.saving.expected_ns)
    assert first["properties"]["explains"] == ["tensor-core/small-matrix-kernels"]
    assert [place["id"] for place in first["relatedLocations"]] == [1, 2, 3, 4, 5, 6]


def test_levels_follow_severities_and_results_their_rules() -> None:
    found = run(three())
    rules = found["tool"]["driver"]["rules"]
    assert [result["level"] for result in found["results"]] == ["warning", "error", "note"]
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [rule["id"] for rule in rules] == sorted({rule["id"] for rule in rules})


def test_rule_help_tells_why_and_when_it_is_wrong() -> None:
    rules = {rule["id"]: rule for rule in run(three())["tool"]["driver"]["rules"]}
    fp32 = rules["tensor-core/fp32-matrix-on-cuda-cores"]
    for text in fp32["help"].values():
        assert "unless TF32 is allowed" in text
        assert "Work that needs FP32 products" in text
        assert "PyTorch CUDA semantics" in text
    assert fp32["properties"] == {
        "tags": ["performance", "tensor-core"], "precision": "high", "problem.severity": "warning"
    }  # fmt: skip
    assert "help" not in rules["transfer/pageable-copies"]


def test_precision_of_a_rule_is_that_of_its_surest_finding() -> None:
    doubtful = replace(fp32_matrix(), confidence="low")
    rules = run(report(doubtful, fp32_matrix()))["tool"]["driver"]["rules"]
    assert next(rule for rule in rules if "properties" in rule)["properties"]["precision"] == "high"


def test_what_could_not_be_judged_is_told_as_notifications() -> None:
    notes = run(three())["invocations"][0]["toolExecutionNotifications"]
    judged = [note["associatedRule"]["id"] for note in notes if note["descriptor"]["id"] == "not-judged"]
    assert judged == ["memory/uncoalesced-global", "memory/partial-sectors", "transfer/pageable-copies"]
    assert "Collect it with: nsys stats --report cuda_gpu_trace" in notes[-1]["message"]["text"]


def test_lost_input_is_told_and_the_run_is_no_success() -> None:
    lost = Issue(Level.DATA_LOSS, "row dropped", Location("a.csv", 7, 2, "x"))
    unread = Issue(Level.ERROR, "not a profile", Location("b.csv"))
    invocation = run(report(issues=(lost,)))["invocations"][0]
    assert invocation["executionSuccessful"] is True
    assert invocation["toolExecutionNotifications"][0] == {
        "descriptor": {"id": "input-data-loss"},
        "level": "warning",
        "message": {"text": "row dropped"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": "a.csv"}, "region": {"startLine": 7}},
                "properties": {"field": "x", "field_number": 2},
            }
        ],
    }
    assert run(report(issues=(lost, unread)))["invocations"][0]["executionSuccessful"] is False


def test_more_results_than_github_takes_are_cut_with_a_note() -> None:
    many = [replace(optimizer_loop(), fingerprint=f"f{index}") for index in range(RESULTS + 2)]
    found = run(report(*many))
    assert len(found["results"]) == RESULTS
    assert found["results"][-1]["partialFingerprints"]["nsightInsight/v1"] == f"f{RESULTS - 1}"
    notes = [note["message"]["text"] for note in found["invocations"][0]["toolExecutionNotifications"]]
    assert "2 findings of 5,002 left out of this file." in notes


def test_top_cuts_with_a_note() -> None:
    found = run(three(), top=1)
    assert len(found["results"]) == 1
    assert any("2 findings of 3 left out" in text for text in values(found["invocations"], "text"))


def test_kernels_of_a_large_finding_are_cut() -> None:
    many = replace(fp32_matrix().subject, members=fp32_matrix().subject.members * 10)
    found = run(report(replace(fp32_matrix(), subject=many)))["results"][0]
    assert len(found["relatedLocations"]) == MEMBERS
    assert found["properties"]["kernels"] == 60


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names_are_told_exactly_and_link_nowhere(name: str) -> None:
    found = run(nasty(name))
    names = list(values(found["results"], "fullyQualifiedName"))
    assert clean(name) in names
    for text in values(found, "text"):
        assert not re.search(r"(?<!\\)\]\(", text), text
    for uri in values(found, "uri"):
        assert re.fullmatch(r"[A-Za-z0-9._~%/-]*", uri)
        assert unquote(uri, errors="strict") in (as_posix(name), FILE)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("runs/my run.csv", "runs/my%20run.csv"),
        ("./a.csv", "a.csv"),
        ("/abs/a#1.csv", "file:///abs/a%231.csv"),
        ("C:\\runs\\a.csv", "file:///C:/runs/a.csv"),
        ("b:c.csv", "b%3Ac.csv"),
        ("a.zip!é.csv", "a.zip%21%C3%A9.csv"),
        ("-", "-"),
    ],
)
def test_paths_become_uris(path: str, uri: str) -> None:
    finding = replace(fp32_matrix(), location=Location(path, 1))
    found = run(report(finding, sources=(Source(path, "nsys_csv", "nsys", "x"),)))
    assert found["artifacts"] == [{"location": {"uri": uri}, "roles": ["analysisTarget"]}]
    assert found["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
    assert urlsplit(uri).scheme in ("", "file")


def test_characters_are_columns_and_rows_of_a_database_are_no_lines() -> None:
    plain = Source("a.txt", "ncu_text", "ncu", "details",
                   columns={"duration": (ColumnOrigin("Duration", None, columns=np.array([9])),)})  # fmt: skip
    database = Source("b.sqlite", "nsys_sqlite", "nsys", "trace", table="KERNEL")
    first = replace(fp32_matrix(), location=Location("a.txt", 4, 9, "Duration"))
    second = replace(idle_device(), location=Location("b.sqlite", 17, None, "end", "KERNEL"))
    results = run(report(first, second, sources=(plain, database)))["results"]
    assert results[0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 4, "startColumn": 9}
    assert results[0]["locations"][0]["properties"] == {"field": "Duration"}
    assert "region" not in results[1]["locations"][0]["physicalLocation"]
    assert results[1]["locations"][0]["properties"] == {"field": "end", "table": "KERNEL", "row": 17}


def test_lines_are_those_of_the_file() -> None:
    for result in run(real("demo"))["results"]:
        physical = result["locations"][0]["physicalLocation"]
        lines = (FIXTURES / "demo" / physical["artifactLocation"]["uri"].rpartition("/")[2]).read_text(encoding="utf-8")
        row = lines.splitlines()[physical["region"]["startLine"] - 1]
        named = {
            name
            for place in result.get("relatedLocations", [])
            for name in values(place, "fullyQualifiedName")
        }  # fmt: skip
        assert any(name.partition("<")[0].split("(")[0] in row for name in named)
