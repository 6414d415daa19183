"""An earlier report as baseline: marks, what is gone, refused files, and every format that shows them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nsight_insight as ni
from nsight_insight.comparison.baseline import against, load_baseline
from nsight_insight.config import parse_fail_on
from nsight_insight.errors import InputError, MissingInput
from nsight_insight.model.finding import Finding, NotEvaluated, Report
from nsight_insight.reporters.json import render as to_json
from nsight_insight.reporters.junit import render as to_junit
from nsight_insight.reporters.markdown import render as to_markdown
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.reporters.sarif import render as to_sarif
from nsight_insight.reporters.text import render as to_text
from tests.paths import FIXTURES, ROOT
from tests.unit.make_report import fp32_matrix, idle_device, optimizer_loop, report
from tests.unit.test_json_reporter import strict

OPTIONS = RenderOptions()


def saved(one: Report, folder: Path, **changes: Any) -> Path:
    path = folder / "baseline.json"
    data = json.loads(to_json(one, OPTIONS))
    data.update(changes)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def marked(before: Report, after: Report, folder: Path) -> Report:
    return against(after, load_baseline(saved(before, folder)))


def states(one: Report) -> list[str]:
    assert one.baseline is not None
    return [mark.state for mark in one.baseline.marks]


def scaled(finding: Finding, factor: float) -> Finding:
    saving = finding.saving
    return replace(
        finding,
        saving=replace(
            saving, expected_ns=saving.expected_ns * factor, upper_ns=saving.upper_ns, share=saving.share * factor
        ),
    )


def loop() -> Finding:
    """The optimizer's loop at a tenth of the kernel time."""
    return scaled(optimizer_loop(), 0.1 / optimizer_loop().saving.share)


def test_the_same_report_is_unchanged(tmp_path: Path) -> None:
    one = report(fp32_matrix(), idle_device(), loop())
    found = marked(one, one, tmp_path)
    assert states(found) == ["unchanged"] * 3
    assert found.baseline is not None
    assert found.baseline.gone == ()
    assert found.new_findings() == ()


def test_new_and_fixed_findings(tmp_path: Path) -> None:
    found = marked(report(fp32_matrix(), idle_device()), report(loop(), idle_device()), tmp_path)
    assert states(found) == ["new", "unchanged"]
    assert found.baseline is not None
    [gone] = found.baseline.gone
    assert (gone.state, gone.rule) == ("fixed", fp32_matrix().rule)
    assert gone.share == pytest.approx(fp32_matrix().saving.share)
    assert [finding.rule for finding in found.new_findings()] == [loop().rule]


def test_without_a_baseline_everything_counts() -> None:
    one = report(fp32_matrix(), loop())
    assert one.new_findings() == one.findings


@pytest.mark.parametrize(
    ("factor", "state"), [(1.0, "unchanged"), (1.2, "unchanged"), (0.85, "unchanged"), (0.3, "better")]
)
def test_only_large_moves_count(factor: float, state: str, tmp_path: Path) -> None:
    found = marked(report(fp32_matrix()), report(scaled(fp32_matrix(), factor)), tmp_path)
    assert states(found) == [state]


def test_a_saving_that_grew_is_worse(tmp_path: Path) -> None:
    found = marked(report(scaled(fp32_matrix(), 0.4)), report(fp32_matrix()), tmp_path)
    assert states(found) == ["worse"]


def test_a_share_that_grew_because_the_rest_shrank_is_no_regression(tmp_path: Path) -> None:
    """Half the busy time a step, the same saving in ns: twice the share."""
    before, after = report(scaled(loop(), 0.5)), report(loop())
    before = replace(before, totals=replace(before.totals, steady_steps=3, steady_window_ns=60e6, steady_busy_ns=40e6))
    after = replace(after, totals=replace(after.totals, steady_steps=3, steady_window_ns=60e6, steady_busy_ns=20e6))
    assert states(marked(before, after, tmp_path)) == ["unchanged"]
    slower = replace(after, totals=replace(after.totals, steady_busy_ns=40e6))
    assert states(marked(before, slower, tmp_path)) == ["worse"]


def test_what_could_not_be_judged_is_neither_new_nor_fixed(tmp_path: Path) -> None:
    rule = fp32_matrix().rule
    gap = NotEvaluated(rule, "t", ("m",), "no such data", 1, 1e6, "")
    with_gap = replace(report(loop()), not_evaluated=(gap,))
    found = marked(with_gap, report(fp32_matrix(), loop()), tmp_path)
    assert states(found) == ["unknown", "unchanged"]
    assert found.new_findings() == ()
    back = marked(report(fp32_matrix(), loop()), with_gap, tmp_path)
    assert back.baseline is not None
    assert [gone.state for gone in back.baseline.gone] == ["unknown"]


def test_a_finding_near_the_limit_is_not_new(tmp_path: Path) -> None:
    small = scaled(fp32_matrix(), 0.007 / fp32_matrix().saving.share)
    assert states(marked(report(loop()), report(small), tmp_path)) == ["unchanged"]
    assert states(marked(report(loop()), report(scaled(small, 2.0)), tmp_path)) == ["new"]


def test_a_finding_that_another_explains_now_is_still_there(tmp_path: Path) -> None:
    folded = replace(fp32_matrix(), explains=(loop(),))
    found = marked(report(fp32_matrix(), loop()), report(folded), tmp_path)
    assert states(found) == ["unchanged"]
    assert found.baseline is not None
    assert found.baseline.gone == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a JSON report"),
        ("[]", "not a JSON report"),
        ('{"version": "2.1.0", "runs": []}', "not a JSON report"),
        ("\xff", "not a JSON report"),
        ("[" * 100_000, "not a JSON report"),
    ],
)
def test_other_files_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=said):
        load_baseline(path)


def test_other_versions_are_refused_by_name(tmp_path: Path) -> None:
    path = saved(report(fp32_matrix()), tmp_path, schema_version=2)
    with pytest.raises(InputError, match="schema version 2; this release reads version 1"):
        load_baseline(path)


def test_a_report_that_leaves_findings_out_is_refused(tmp_path: Path) -> None:
    one = report(fp32_matrix(), loop())
    path = tmp_path / "top.json"
    path.write_text(to_json(one, RenderOptions(top=1)), encoding="utf-8")
    with pytest.raises(InputError, match="leaves 1 findings out; write the baseline without --top"):
        load_baseline(path)


def test_a_mutilated_report_is_refused(tmp_path: Path) -> None:
    data = json.loads(to_json(report(fp32_matrix()), OPTIONS))
    del data["findings"][0]["subject"]["members"]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match="members"):
        load_baseline(path)


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    found: list[tuple[Any, Any]] = []
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        found += [(node, key), *places(value)]
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10_000), value=st.sampled_from([None, "x", -1, 1e400, [], {}, True, "\x1b[31m"]))
def test_whatever_a_file_holds_is_read_or_refused(at: int, value: Any, tmp_path: Path) -> None:
    one = report(fp32_matrix(), replace(idle_device(), explains=(loop(),)))
    data = json.loads(to_json(one, OPTIONS))
    found = places(data)
    container, key = found[at % len(found)]
    container[key] = value
    path = tmp_path / "x.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    try:
        marks = against(one, load_baseline(path))
    except InputError:
        return
    assert len(states(marks)) == 2
    assert "\x1b" not in to_text(marks, OPTIONS)
    json.loads(to_json(marks, OPTIONS), parse_constant=pytest.fail)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="No such file"):
        load_baseline(tmp_path / "nowhere.json")


def changed(folder: Path) -> Report:
    return marked(report(fp32_matrix(), idle_device()), report(loop(), idle_device()), folder)


def test_json_holds_marks_and_what_is_gone(tmp_path: Path) -> None:
    data = json.loads(to_json(changed(tmp_path), OPTIONS))
    jsonschema.Draft202012Validator(strict()).validate(data)
    assert [finding["baseline"]["state"] for finding in data["findings"]] == ["new", "unchanged"]
    assert [gone["state"] for gone in data["baseline"]["gone"]] == ["fixed"]
    again = tmp_path / "again.json"
    again.write_text(json.dumps(data), encoding="utf-8")
    assert states(against(changed(tmp_path), load_baseline(again))) == ["unchanged", "unchanged"]


def test_sarif_holds_the_standard_s_states(tmp_path: Path) -> None:
    log = json.loads(to_sarif(changed(tmp_path), OPTIONS))
    schema = json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(log)
    assert [result["baselineState"] for result in log["runs"][0]["results"]] == ["new", "unchanged"]


def test_text_and_markdown_tell_what_changed(tmp_path: Path) -> None:
    found = changed(tmp_path)
    text = to_text(found, RenderOptions(width=80))
    assert "Against baseline.json: 1 new, 1 unchanged, 1 fixed" in text
    assert f"new     1. {loop().title[:30]}" in text
    assert f"fixed   {fp32_matrix().title[:30]}" in text
    assert "- fixed: " in to_markdown(found, OPTIONS)


def test_junit_fails_new_findings_only(tmp_path: Path) -> None:
    limit = parse_fail_on("new:note")
    assert to_junit(changed(tmp_path), RenderOptions(fail_on=limit)).count("<failure") == 1
    assert to_junit(changed(tmp_path), RenderOptions(fail_on=parse_fail_on("note"))).count("<failure") == 2


@pytest.mark.parametrize(
    ("text", "expected"), [("new", ("note", None)), ("new:warning", ("warning", None)), ("new:5%", (None, 0.05))]
)
def test_new_limits(text: str, expected: tuple[str | None, float | None]) -> None:
    limit = parse_fail_on(text)
    assert limit.only_new
    assert (limit.severity, limit.share) == expected


def test_real_captures(tmp_path: Path) -> None:
    """FP32 as baseline of autocast: products fixed, casts new, the optimizer's loop as before."""
    fp32, amp = (
        ni.analyze(ni.load(FIXTURES / "nsys-csv" / folder / file))
        for folder, file in (
            ("2025.3-h200-fp32", "fp32_cuda_gpu_trace.csv"),
            ("2025.3-h200-amp", "amp_fp16_cuda_gpu_trace.csv"),
        )
    )
    found = marked(fp32, amp, tmp_path)
    by_rule = dict(zip((finding.rule for finding in found.findings), states(found), strict=True))
    assert by_rule["precision/cast-kernels"] == "new"
    assert found.baseline is not None
    assert "tensor-core/fp32-matrix-on-cuda-cores" in {
        gone.rule for gone in found.baseline.gone if gone.state == "fixed"
    }
