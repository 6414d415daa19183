"""The engine on small profiles: verdicts, savings, confidence, overrides, suppressions, gaps."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from nsight_insight.config import Config, Suppression, Threshold
from nsight_insight.model.finding import Report
from nsight_insight.model.issues import Location
from nsight_insight.rules.engine import analyze_profile
from nsight_insight.rules.loader import load_rules
from nsight_insight.rules.thin import SUMMARY
from tests.unit.make_profile import make_profile

ALL = Config(min_saving=Threshold(share=0.0))
RULE = """
schema: 1
title: Slow things
since: 0.1.0
status: preview
severity: warning
confidence: high
scope: kernel
merge: {merge}
params:
  least: {{value: 1, unit: ms, doc: smallest time}}
when:
  - id: long
    if: duration >= least
    say: "{{base}} takes {{duration}}"
doubt:
  - if: launches < 2
    say: only {{launches}} launch
saving: {{upper: duration, expected: 0.5 * duration, resource: work, basis: half}}
explains: [{explains}]
message: "{{kernels:kernel}} take {{duration}} ({{expected}} to save)"
why: because
remedies:
  - {{id: one, title: For many launches, when: launches > 5}}
  - id: two
    title: With its own saving
    saving: {{upper: 0.2 * duration, expected: 0.1 * duration}}
false_positives: none known
references: [a test]
"""


def rule(tmp_path: Path, name: str = "precision/slow", *, merge: bool = False, explains: str = "") -> Path:
    path = tmp_path / "rules" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULE.format(merge=str(merge).lower(), explains=explains), encoding="utf-8")
    return tmp_path / "rules"


def run(folder: Path, config: Config = ALL, rows: list[dict[str, object]] | None = None) -> Report:
    rows = rows or [
        {"name": "alpha(int)", "count": 10, "duration": 6e6},
        {"name": "beta(int)", "count": 1, "duration": 3e6},
        {"name": "gamma(int)", "count": 1, "duration": 1e3},
    ]
    rules = {key: value for key, value in load_rules([folder]).items() if Path(value.file).is_relative_to(folder)}
    return analyze_profile(make_profile(nsys=rows), rules, config)


def test_one_finding_per_kernel_ranked_by_weighted_saving(tmp_path: Path) -> None:
    first, second = run(rule(tmp_path)).findings
    assert (first.subject.kernel, second.subject.kernel) == ("alpha(int)", "beta(int)")
    assert first.saving.expected_ns == pytest.approx(3e6)
    assert first.message == "1 kernel take 6.00 ms (3.00 ms to save)"
    assert first.saving.share == pytest.approx(3e6 / 9.001e6)


def test_a_doubt_lowers_confidence_and_is_told(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"name": "alpha(int)", "count": 10, "duration": 6e6, "start": 0.0},
        {"name": "beta(int)", "count": 1, "duration": 3e6, "start": 7e6},
    ]
    first, second = run(rule(tmp_path), rows=rows).findings
    assert first.confidence == "high"
    assert second.confidence == "medium"
    assert second.saving.assumptions == ("only 1 launch",)


def test_a_summary_is_never_sure(tmp_path: Path) -> None:
    first, second = run(rule(tmp_path)).findings
    assert (first.confidence, second.confidence) == ("medium", "medium")
    assert first.saving.assumptions == (SUMMARY,)
    assert second.saving.assumptions == ("only 1 launch",)


def test_merged_findings_sum_their_members(tmp_path: Path) -> None:
    (finding,) = run(rule(tmp_path, merge=True)).findings
    assert [member.kernel for member in finding.subject.members] == ["alpha(int)", "beta(int)"]
    assert finding.saving.expected_ns == pytest.approx(4.5e6)
    assert finding.subject.launches == 11
    assert "2 kernels take 9.00 ms" in finding.message


def test_remedies_follow_their_own_condition_and_saving(tmp_path: Path) -> None:
    first, second = run(rule(tmp_path)).findings
    assert [remedy.id for remedy in first.remedies] == ["one", "two"]
    assert [remedy.id for remedy in second.remedies] == ["two"]
    saving = first.remedies[1].saving
    assert saving is not None
    assert saving.expected_ns == pytest.approx(0.6e6)
    assert saving.resource == "work"


def test_folding_tells_the_rest_anew(tmp_path: Path) -> None:
    folder = rule(tmp_path, "precision/cause", explains="launch/effect")
    text = RULE.format(merge="true", explains="").replace("launches > 5", "launches > 50")
    path = folder / "launch" / "effect.yaml"
    path.parent.mkdir()
    path.write_text(text.replace("value: 1, unit: ms", "value: 0.5, unit: us"), encoding="utf-8")
    report = run(folder)
    effect = next(finding for finding in report.findings if finding.rule == "launch/effect")
    assert [member.kernel for member in effect.subject.members] == ["gamma(int)"]
    assert effect.message.startswith("1 kernel take 1.00 us")
    causes = [finding for finding in report.findings if finding.rule == "precision/cause"]
    assert all(folded.rule == "launch/effect" for cause in causes for folded in cause.explains)


def test_parameters_and_severity_can_be_overridden(tmp_path: Path) -> None:
    config = replace(ALL, params={"precision/slow": {"least": 5.0}}, severity={"precision/slow": "error"})
    (finding,) = run(rule(tmp_path), config).findings
    assert finding.subject.kernel == "alpha(int)"
    assert finding.severity == "error"


def test_small_findings_are_counted_not_shown(tmp_path: Path) -> None:
    report = run(rule(tmp_path), Config(min_saving=Threshold(share=0.2)))
    assert [finding.subject.kernel for finding in report.findings] == ["alpha(int)"]
    assert report.below_threshold == 1


def test_a_suppression_hides_its_kernel_and_an_unused_one_is_told(tmp_path: Path) -> None:
    here = Location("pyproject.toml", 3)
    config = replace(
        ALL,
        suppressions=(
            Suppression("precision/slow", "known", here, kernel="alpha*"),
            Suppression("precision/slow", "never there", here, kernel="omega*"),
            Suppression("precision/slow", "old", here, kernel="beta*", expires=date(2020, 1, 1)),
        ),
    )
    report = run(rule(tmp_path), config)
    assert [finding.subject.kernel for finding in report.findings] == ["beta(int)"]
    assert report.suppressed == 1
    texts = [issue.text for issue in report.issues]
    assert any("never there" in text and "matched no finding" in text for text in texts)
    assert any("old" in text and "expired" in text for text in texts)


def test_a_suppression_takes_its_kernel_out_of_a_merged_finding(tmp_path: Path) -> None:
    here = Location("pyproject.toml", 3)
    config = replace(ALL, suppressions=(Suppression("precision/slow", "known", here, kernel="alpha*"),))
    (finding,) = run(rule(tmp_path, merge=True), config).findings
    assert [member.kernel for member in finding.subject.members] == ["beta(int)"]
    assert finding.saving.expected_ns == pytest.approx(1.5e6)


def test_fingerprints_do_not_depend_on_the_numbers(tmp_path: Path) -> None:
    folder = rule(tmp_path)
    one = run(folder).findings
    two = run(
        folder,
        rows=[
            {"name": "alpha(int)", "count": 99, "duration": 60e6},
            {"name": "beta(int)", "count": 3, "duration": 50e6},
        ],
    ).findings
    assert {f.subject.kernel: f.fingerprint for f in one} == {f.subject.kernel: f.fingerprint for f in two}


def test_potential_composes_and_stays_within_the_kernel_time(tmp_path: Path) -> None:
    rule(tmp_path, "precision/slow")
    folder = rule(tmp_path, "launch/slow-too")
    report = run(folder)
    assert len(report.findings) == 4
    assert report.potential.expected_ns == pytest.approx(4.5e6), "the same resource on one kernel counts once"
    assert report.potential.upper_ns <= report.totals.kernel_ns
