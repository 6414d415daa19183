from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from syrupy.assertion import SnapshotAssertion

from nsight_insight.config import Config, parse_fail_on
from nsight_insight.model.finding import Report
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.junit import OUTCOMES, render
from nsight_insight.reporters.options import RenderOptions
from tests.unit.make_ci_report import NASTY, REAL, healthy, nasty, real, three
from tests.unit.make_report import fp32_matrix, optimizer_loop, report

LEVELS = ["never", "note", "warning", "error", "2%", "50%", "90%"]


def document(one: Report, fail_on: str = "never", **options: Any) -> ET.Element:
    return ET.fromstring(render(one, RenderOptions(fail_on=parse_fail_on(fail_on), **options)))


def names(root: ET.Element, outcome: str) -> list[str]:
    return [case.attrib["name"] for case in root.iter("testcase") if case.find(outcome) is not None]


def test_snapshot(snapshot: SnapshotAssertion) -> None:
    assert render(three(), RenderOptions(fail_on=parse_fail_on("warning"))) == snapshot


@pytest.mark.parametrize("fail_on", LEVELS)
@pytest.mark.parametrize("one", [three(), healthy(), report(optimizer_loop())])
def test_red_tests_and_exit_code_1_go_together(one: Report, fail_on: str) -> None:
    root = document(one, fail_on, top=1)
    limit = Config(fail_on=parse_fail_on(fail_on))
    failed = [finding.title for finding in one.findings if limit.fails([finding])]
    assert names(root, "failure") == failed
    assert bool(failed) == limit.fails(one.findings)
    assert int(root.attrib["failures"]) == len(failed)


def test_without_a_caller_who_fails_nothing_fails() -> None:
    root = ET.fromstring(render(three(), RenderOptions()))
    assert root.attrib["failures"] == "0"
    outputs = [case.findtext("system-out", "") for case in root.iter("testcase")]
    assert sum("Saves about 149.5 ms of 194.3 ms" in text for text in outputs) == 1


@pytest.mark.parametrize("fixture", REAL)
def test_real_reports(fixture: str) -> None:
    one = real(fixture)
    root = document(one, "note")
    assert int(root.attrib["failures"]) == len(one.findings) >= 3
    assert int(root.attrib["skipped"]) == len(one.not_evaluated)
    assert root.attrib["errors"] == "0"


@pytest.mark.parametrize("one", [three(), healthy(), nasty("x"), real("demo")])
def test_counts_are_those_of_the_tests(one: Report) -> None:
    root = document(one, "note")
    for element in (root, *root.iter("testsuite")):
        cases = list(element.iter("testcase"))
        assert int(element.attrib["tests"]) == len(cases) >= 1
        for attribute, tag in OUTCOMES.items():
            assert int(element.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
    for case in root.iter("testcase"):
        assert len(case) == 1


def test_a_failure_tells_the_story() -> None:
    root = document(three(), "warning")
    case = next(case for case in root.iter("testcase") if case.find("failure") is not None)
    assert case.attrib == {
        "classname": "tensor-core.fp32-matrix-on-cuda-cores",
        "name": "Matrix multiplication in FP32 on CUDA cores",
        "file": "captures/fp32_cuda_gpu_kern_sum.csv",
        "line": "2",
    }
    failure = case.find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "warning"
    assert "Saves about 149.5 ms" in failure.attrib["message"]
    text = failure.text or ""
    for member in fp32_matrix().subject.members:
        assert member.kernel in text
    assert "evidence: FP32 matrix kernels take 161.8 ms" in text
    assert "[captures/fp32_cuda_gpu_kern_sum.csv:2:2 Total Time (ns)]" in text
    assert "what to do: Allow TF32" in text


def test_what_could_not_be_judged_is_skipped_and_says_how_to_collect_it() -> None:
    skipped = [case.find("skipped") for case in document(healthy()).iter("testcase")]
    messages = [case.attrib["message"] for case in skipped if case is not None]
    assert len(messages) == 3
    assert messages[2].endswith("Collect it with: nsys stats --report cuda_gpu_trace --format csv run.nsys-rep")


def test_a_report_without_findings_is_not_empty() -> None:
    clean = replace(healthy(), not_evaluated=())
    (case,) = document(clean, "note").iter("testcase")
    assert case.attrib["name"] == "analysis"
    assert "No finding. 31 rules checked 46 kernels" in (case.findtext("system-out") or "")


def test_an_input_that_was_not_read_is_an_error() -> None:
    issues = (Issue(Level.DATA_LOSS, "lost", Location("a.csv", 3)), Issue(Level.ERROR, "no profile", Location("b.csv")))
    root = document(report(issues=issues))
    assert names(root, "error") == ["input b.csv"]
    summary = next(root.iter("testcase"))
    assert "data-loss a.csv:3: lost" in (summary.findtext("system-out") or "")


def test_every_test_has_a_name_of_its_own() -> None:
    root = document(report(*[optimizer_loop()] * 3))
    keys = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    assert len(set(keys)) == len(keys)


def test_test_names_stay_when_times_change() -> None:
    slower = replace(optimizer_loop(), saving=replace(optimizer_loop().saving, expected_ns=5e6), message="other 5 ms")
    before, after = (names(document(report(one)), "system-out") for one in (optimizer_loop(), slower))
    assert before == after


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names_survive_and_nothing_else_does(name: str) -> None:
    text = render(nasty(name), RenderOptions(fail_on=parse_fail_on("note")))
    assert not re.search(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    root = ET.fromstring(text)
    assert {element.tag for element in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out"
    }  # fmt: skip
    stories = "\n".join(failure.text or "" for failure in root.iter("failure"))
    assert re.sub("[\ufffe\uffff]", "", fmt.flow(name)) in stories
