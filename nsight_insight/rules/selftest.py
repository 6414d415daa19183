"""The tests inside rule files: invented facts or a real fixture, run by the code users call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nsight_insight.errors import NsightInsightError
from nsight_insight.model.finding import Report
from nsight_insight.rules import vocabulary
from nsight_insight.rules.build import si_value
from nsight_insight.rules.evaluate import Outcome, evaluate
from nsight_insight.rules.expr import Array
from nsight_insight.rules.gaps import missing_inputs
from nsight_insight.rules.model import Rule, RuleTest
from nsight_insight.views.facts import FactTable
from nsight_insight.views.gpu import table_facts

Analyze = Callable[[str, Rule], Report | None]
"""Analyses a fixture (path under ``fixtures/``) with one rule; None when the fixture is not there."""


@dataclass(frozen=True)
class TestOutcome:
    """What became of one test; ``passed`` is None when its fixture does not ship with the package."""

    __test__ = False
    rule: str
    name: str
    passed: bool | None
    text: str


def run_tests(rules: Iterable[Rule], analyze_fixture: Analyze | None = None) -> list[TestOutcome]:
    """Run every test of every rule."""
    return [_run(rule, test, analyze_fixture) for rule in rules for test in rule.tests]


def _run(rule: Rule, test: RuleTest, analyze_fixture: Analyze | None) -> TestOutcome:
    try:
        text = _on_fixture(rule, test, analyze_fixture) if test.fixture else _on_facts(rule, test)
    except (NsightInsightError, KeyError, ValueError) as error:
        text = f"{type(error).__name__}: {error}"
    passed = None if text == _ABSENT else not text
    return TestOutcome(rule.id, test.name, passed, text)


_ABSENT = "the fixture does not ship with the package"


def _on_facts(rule: Rule, test: RuleTest) -> str:
    outcome = judge(rule, test.given)
    got = "fires" if outcome.fired.any() else "unknown" if outcome.unknown.any() else "silent"
    if got != test.expect:
        return f"expected {test.expect}, got {got}" + (
            f" (missing: {', '.join(sorted(outcome.gaps))})" if outcome.gaps else ""
        )
    if test.missing and (lacking := set(test.missing) - set(missing_inputs(outcome))):
        return f"does not name as missing: {', '.join(sorted(lacking))}; names {', '.join(missing_inputs(outcome))}"
    if test.expected is not None:
        return _between("expected saving (s)", float(np.nansum(outcome.expected[outcome.fired])), test.expected)
    return ""


def _on_fixture(rule: Rule, test: RuleTest, analyze_fixture: Analyze | None) -> str:
    report = analyze_fixture(test.fixture, rule) if analyze_fixture else None
    if report is None:
        return _ABSENT
    found = [f for f in report.findings if f.rule == rule.id and _names(f.subject.members, test.subject)]
    if test.expect == "unknown":
        gaps = [gap for gap in report.not_evaluated if gap.rule == rule.id]
        lacking = set(test.missing) - {name for gap in gaps for name in gap.missing}
        return "" if gaps and not lacking else f"expected a gap naming {', '.join(test.missing)}"
    if (test.expect == "fires") != bool(found):
        return f"expected {test.expect}, got {len(found)} findings"
    if found and test.share is not None:
        return _between("time share", found[0].subject.time_share, test.share)
    if found and test.expected is not None:
        return _between("expected saving (s)", found[0].saving.expected_ns / 1e9, test.expected)
    return ""


def _names(members: Iterable[Any], text: str) -> bool:
    return not text or any(text in member.kernel for member in members)


def _between(what: str, value: float, bounds: tuple[float, float]) -> str:
    low, high = bounds
    return "" if low <= value <= high else f"{what} is {value:.6g}, not within {low:.6g} to {high:.6g}"


def judge(rule: Rule, given: Iterable[Mapping[str, Any]]) -> Outcome:
    """Evaluate a rule on invented facts, one mapping per subject; texts such as ``10 ms`` carry units.

    ``gpu: NVIDIA H200`` fills every fact of that GPU; ``tool`` is ``ncu`` or ``nsys`` (default by scope);
    trace facts are given with their ``trace_`` prefix.
    """
    subjects = [_complete(rule, subject) for subject in given] or [{}]
    tools = np.array([str(s.get("tool", "ncu" if rule.scope == "launch" else "nsys")) for s in subjects], dtype=object)
    table = _table(rule.scope, subjects)
    return evaluate(rule, table, FactTable("trace", {}, [], [], np.array([], dtype=np.int64), np.array([]),
                                           np.array([], dtype=np.int64), np.array([])), tools)  # fmt: skip


def _complete(rule: Rule, subject: Mapping[str, Any]) -> dict[str, float | str]:
    values = {name: si_value(value) for name, value in subject.items()}
    gpu = values.get("gpu")
    facts = table_facts(str(gpu), str(values.get("dtype_in", ""))) if gpu is not None else {}
    filled: dict[str, float | str] = {**facts, **values}
    unknown = set(filled) - set(vocabulary.facts(rule.scope)) - {"tool"}
    stray = unknown - set(facts)
    if stray:
        raise ValueError(f"unknown facts in the test: {', '.join(sorted(stray))}")
    return {name: value for name, value in filled.items() if name not in unknown}


def _table(scope: str, subjects: list[dict[str, float | str]]) -> FactTable:
    size = len(subjects)
    facts = vocabulary.facts(scope)
    values: dict[str, Array] = {}
    for name in {name for subject in subjects for name in subject} - {"tool"}:
        column = [subject.get(name) for subject in subjects]
        if facts[name].kind == "text":
            values[name] = np.array(column, dtype=object)
        else:
            values[name] = np.array([np.nan if value is None else float(value) for value in column])
    time = values.get("duration", values.get("kernel_time", np.ones(size)))
    ids = np.arange(size, dtype=np.int64)
    return FactTable(
        scope, values, [f"subject {index}" for index in ids], [ids[i : i + 1] for i in range(size)], ids, time,
        np.zeros(size, dtype=np.int64), values.get("launches", np.ones(size)),
    )  # fmt: skip
