"""OpenMetrics text, read back by Prometheus' own Python parsers of both text formats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus
from syrupy.assertion import SnapshotAssertion

from nsight_insight.model.finding import Report
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.totals import Totals
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.reporters.prometheus import render
from tests.unit.make_ci_report import AMP, NASTY, REAL, healthy, nasty, real, three
from tests.unit.make_report import FAMILIES, FILE, KERNEL_NS, optimizer_loop, report

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(families: Iterable[Any]) -> Samples:
    found: Samples = {}
    for family in families:
        assert family.type == "gauge"
        assert family.documentation.endswith(".")
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            assert sample.timestamp is None
            found[key] = sample.value
    return found


def parsed(one: Report, **options: Any) -> Samples:
    text = render(one, RenderOptions(**options))
    found = samples(openmetrics(text))
    assert samples(prometheus(text)) == found
    return found


def value(found: Samples, name: str, **labels: str) -> float:
    return found[(f"nsight_insight_{name}", frozenset(labels.items()))]


def test_snapshot(snapshot: SnapshotAssertion) -> None:
    assert render(three(), RenderOptions()) == snapshot


def test_the_last_line_ends_the_exposition() -> None:
    assert render(three(), RenderOptions()).endswith("} 1\n# EOF\n")


def test_values_are_those_of_the_report_in_seconds() -> None:
    found = parsed(three())
    labels = {"category": "tensor-core", "severity": "warning", "device": "0"}
    rule = "tensor-core/fp32-matrix-on-cuda-cores"
    expected = three().findings[0].saving
    assert value(found, "saving_seconds", rule=rule, **labels) == pytest.approx(expected.expected_ns / 1e9)
    assert value(found, "saving_upper_seconds", rule=rule, **labels) == pytest.approx(expected.upper_ns / 1e9)
    assert value(found, "kernel_total_seconds") == pytest.approx(KERNEL_NS / 1e9)
    for family, ns in FAMILIES.items():
        assert value(found, "kernel_seconds", family=family) == pytest.approx(ns / 1e9)
    assert value(found, "potential_seconds", bound="expected") == pytest.approx(three().potential.expected_ns / 1e9)
    assert value(found, "potential_ratio") == pytest.approx(three().potential.share)
    assert value(found, "not_judged") == 3
    assert value(found, "findings", severity="error") == 1
    assert value(found, "build_info", version="0.1.0") == 1


@pytest.mark.parametrize("fixture", REAL)
def test_real_reports(fixture: str) -> None:
    one = real(fixture)
    found = parsed(one)
    sums = [number for (name, _), number in found.items() if name == "nsight_insight_saving_seconds"]
    assert sum(sums) == pytest.approx(sum(finding.saving.expected_ns for finding in one.findings) / 1e9)
    families = [number for (name, _), number in found.items() if name == "nsight_insight_kernel_seconds"]
    assert sum(families) == pytest.approx(value(found, "kernel_total_seconds"))


def test_conversions_and_matrix_work_add_up_to_their_accounts() -> None:
    amp = real(AMP)
    assert amp.ledger is not None
    assert amp.tensor_account is not None
    sums = {"conversion": 0.0, "matrix": 0.0}
    for (name, labels), number in parsed(amp).items():
        kind = name.removeprefix("nsight_insight_").removesuffix("_seconds")
        if kind in sums and ("kind", "fused") not in labels:
            sums[kind] += number
    assert sums["conversion"] == pytest.approx(amp.ledger.time_ns / 1e9)
    assert sums["matrix"] == pytest.approx(amp.tensor_account.time_ns / 1e9)


def test_findings_of_one_rule_and_device_add_up() -> None:
    other = replace(optimizer_loop(), subject=replace(optimizer_loop().subject, device=1))
    found = parsed(report(optimizer_loop(), optimizer_loop(), other))
    labels = {"rule": "launch/optimizer-loop", "category": "launch", "severity": "note"}
    one = optimizer_loop().saving.expected_ns / 1e9
    assert value(found, "saving_seconds", device="0", **labels) == pytest.approx(2 * one)
    assert value(found, "saving_seconds", device="1", **labels) == pytest.approx(one)


def test_unknown_times_are_left_out_and_known_ones_told() -> None:
    names = {name for name, _ in parsed(three())}
    assert "nsight_insight_gpu_busy_seconds" not in names
    totals = Totals(KERNEL_NS, 1, 1, gpu_busy_ns=0.2e9, window_ns=0.8e9)
    found = parsed(report(totals=totals))
    assert value(found, "gpu_busy_seconds") == pytest.approx(0.2)
    assert value(found, "window_seconds") == pytest.approx(0.8)


def test_top_changes_no_total() -> None:
    assert parsed(three(), top=1) == parsed(three())


def test_nothing_found_is_zero_not_absent() -> None:
    found = parsed(healthy())
    assert value(found, "findings", severity="warning") == 0
    assert value(found, "potential_seconds", bound="upper") == 0


def test_lost_input_is_counted() -> None:
    issues = (Issue(Level.DATA_LOSS, "x", Location(FILE, 1)),) * 2
    found = parsed(report(issues=issues))
    assert value(found, "input_issues", level="data-loss") == 2
    assert value(found, "input_issues", level="error") == 0


@pytest.mark.parametrize("name", NASTY)
def test_kernel_names_are_no_labels(name: str) -> None:
    lines = render(nasty(name), RenderOptions()).splitlines()
    assert lines == render(nasty("plain"), RenderOptions()).splitlines()


@pytest.mark.parametrize("name", NASTY)
def test_labels_are_escaped(name: str) -> None:
    from nsight_insight.model.text import clean

    totals = replace(report().totals, families={name: 1e9})
    found = parsed(report(totals=totals, version=name))
    assert value(found, "kernel_seconds", family=clean(name)) == 1.0
    assert value(found, "build_info", version=clean(name)) == 1.0
