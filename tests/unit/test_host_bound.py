"""Where the host is the bottleneck, less is expected of faster kernels; idle findings have a base of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nsight_insight.config import Config, Threshold
from nsight_insight.errors import RuleErrors
from nsight_insight.model.compose import compose
from nsight_insight.model.finding import Report
from nsight_insight.rules.engine import analyze_profile
from nsight_insight.rules.loader import load_rules
from tests.unit.make_profile import make_profile
from tests.unit.test_engine import RULE
from tests.unit.test_fold_compose import finding, member

ALL = Config(min_saving=Threshold(share=0.0))
STEPS, KERNELS, PERIOD = 6, 40, 100_000.0
"""Each step has 40 kernels and takes 100 us a kernel."""


def program(busy: float, *, calls: bool = True) -> list[dict[str, Any]]:
    """Kernels that fill ``busy`` of the time; each call returns just before its kernel starts."""
    rows: list[dict[str, Any]] = []
    for number in range(STEPS * KERNELS + 1):
        start, name = number * PERIOD, f"k{number % KERNELS}(int)"
        rows.append({"name": name, "start": start, "duration": busy * PERIOD, "correlation": number, "device": 0})
        if calls:
            rows.append({
                "kind": "api", "name": "cudaLaunchKernel", "start": start - 10_000, "duration": 9000.0,
                "correlation": number, "device": 0, "process": 1, "thread": 1,
            })  # fmt: skip
    return rows


def analyzed(folder: Path, rows: list[dict[str, Any]], *names: str) -> Report:
    rules = {name: rule for name, rule in load_rules([folder]).items() if name in names}
    return analyze_profile(make_profile(rows, report="cuda_gpu_trace"), rules, ALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rules/precision/slow.yaml"
    path.parent.mkdir(parents=True)
    text = RULE.format(merge="true", explains="").replace("value: 1, unit: ms", "value: 1, unit: us")
    path.write_text(text, encoding="utf-8")
    return tmp_path / "rules"


def test_kernel_savings_shrink_by_the_share_in_which_the_gpu_waits(folder: Path) -> None:
    [told] = analyzed(folder, program(0.25), "precision/slow").findings
    # Of each 100 us the kernel takes 25 us; the next call returns 1 us before the next kernel starts.
    waiting = 0.74
    assert told.saving.expected_ns == pytest.approx(0.5 * told.subject.time_ns * (1 - waiting), rel=1e-3)
    assert told.saving.upper_ns == pytest.approx(told.subject.time_ns), "the bound is what it was"
    assert told.confidence == "medium"
    assert any("waits for the host 74.0 %" in text for text in told.saving.assumptions)
    own = next(remedy for remedy in told.remedies if remedy.saving)
    assert own.saving is not None
    assert own.saving.expected_ns == pytest.approx(0.1 * told.subject.time_ns * (1 - waiting), rel=1e-3)


@pytest.mark.parametrize(("busy", "calls"), [(0.6, True), (0.25, False)])
def test_savings_stay_where_the_gpu_is_the_limit_or_nothing_is_known(folder: Path, busy: float, calls: bool) -> None:
    [told] = analyzed(folder, program(busy, calls=calls), "precision/slow").findings
    assert told.saving.expected_ns == pytest.approx(0.5 * told.subject.time_ns)
    assert told.confidence == "high"
    assert not told.saving.assumptions


def test_launch_bound_is_a_share_of_the_steady_window_and_potential_stays_within_it(folder: Path) -> None:
    names = ("precision/slow", "idle/launch-bound", "launch/tiny-kernels")
    report = analyzed(folder, program(0.25), *names)
    bound = next(found for found in report.findings if found.rule == "idle/launch-bound")
    window = STEPS * KERNELS * PERIOD
    assert bound.saving.base_ns == pytest.approx(window)
    assert bound.saving.expected_ns == pytest.approx(0.9 * 0.74 * window, rel=1e-3)
    assert bound.saving.share == pytest.approx(0.9 * 0.74, rel=1e-3)
    idle = 0.75 * window
    assert report.potential.base_ns == pytest.approx(report.totals.kernel_ns + idle)
    assert report.potential.expected_ns <= report.potential.upper_ns <= report.totals.kernel_ns + idle
    assert 0 < report.potential.share < 1


def test_tiny_kernels_are_explained_by_the_wait() -> None:
    rows = [{**row, "duration": 4000.0} if row.get("kind") != "api" else row for row in program(0.25)]
    many = [
        {
            **row,
            "start": row["start"] + shift * STEPS * KERNELS * PERIOD,
            "correlation": row["correlation"] + shift * 1000,
        }
        for shift in range(3)
        for row in rows[:-2]
    ]
    rules = load_rules([])
    names = ("idle/launch-bound", "launch/tiny-kernels")
    report = analyze_profile(
        make_profile(many, report="cuda_gpu_trace"), {name: rules[name] for name in names}, ALL
    )  # fmt: skip
    assert [found.rule for found in report.findings] == ["idle/launch-bound"]
    assert [told.rule for told in report.findings[0].explains] == ["launch/tiny-kernels"]


def test_only_a_device_can_save_a_share_of_its_steady_window(folder: Path) -> None:
    path = folder / "precision/slow.yaml"
    text = path.read_text(encoding="utf-8").replace("basis: half}", "basis: half, base: steady}")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RuleErrors, match="scope trace"):
        load_rules([folder])


def test_idle_savings_add_to_kernel_savings_and_never_exceed_the_idle_time() -> None:
    kernels = finding("a/a", member("k", 100, 50))
    gaps = [finding(f"idle/{n}", expected=60, resource="host") for n in range(2)]
    gaps = [replace(gap, saving=replace(gap.saving, base_ns=200.0)) for gap in gaps]
    total = compose([kernels, *gaps], 100.0, 100.0)
    assert total.expected_ns == pytest.approx(50 + 100)
    assert total.base_ns == 200.0
    assert total.share == pytest.approx(0.75)
    silent = [replace(gap, saving=replace(gap.saving, expected_ns=0.0)) for gap in gaps]
    alone = compose([kernels, *silent], 100.0, 100.0)
    assert (alone.expected_ns, alone.upper_ns, alone.base_ns) == (50, 100, None), "what promises nothing adds nothing"
