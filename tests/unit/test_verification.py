"""Predictions held against traces with known savings: every outcome, and what findings become."""

from __future__ import annotations

from dataclasses import replace

import pytest

import nsight_insight as ni
from nsight_insight.catalog.names import normalize
from nsight_insight.comparison import Side, compare
from nsight_insight.comparison.verification import verify
from nsight_insight.model.finding import Finding, Report
from nsight_insight.model.profile import Profile
from nsight_insight.model.verification import Verification
from nsight_insight.rules.loader import builtin_rules
from nsight_insight.rules.model import Verify
from tests.unit.make_report import fp32_matrix, idle_device, member, saving, subject
from tests.unit.make_trace import Kernel, steps_of

HOT = "void hot_kernel<float>(float *, int)"
OTHER = "void other_kernel<float>(float *, int)"
CAST = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::float16_copy_kernel_cuda(at::TensorIterator&)>(int)"
)
RULE = fp32_matrix().rule
STEPS = 6


def traced(hot: float, other: float = 4e6, name: str = HOT, jitter: tuple[float, ...] = ()) -> Profile:
    step: list[Kernel] = [(name, hot / 2), (OTHER, other / 2), (name, hot / 2), (OTHER, other / 2)]
    return steps_of([one for one in step if one[1]], STEPS, jitter=jitter)


def promising(expected: float, upper: float = 1.0) -> Finding:
    """A finding on the hot kernel (6 ms a step) that promises these parts of it."""
    own = replace(member(2, HOT, 2 * STEPS, 6e6 * STEPS, expected, upper), key=normalize(HOT))
    return replace(
        fp32_matrix(), subject=subject((own,)), saving=saving((own,), "math", "basis"), remedies=(), explains=()
    )


def reported(profile: Profile, *findings: Finding) -> Side:
    report = ni.analyze(profile)
    return Side(profile, replace(report, findings=findings, not_evaluated=()))


def outcome(finding: Finding, after: Profile, *moves: Verify, before: Profile | None = None) -> Verification:
    rule = replace(builtin_rules()[RULE], verify=moves)
    sides = reported(before or traced(6e6), finding), reported(after)
    [found] = verify(*sides, {RULE: replace(rule, id=finding.rule), finding.rule: rule}).findings
    return found


@pytest.mark.parametrize(
    ("hot", "expected"),
    [
        (2e6, "confirmed"),
        (3.5e6, "confirmed"),
        (4.5e6, "partly"),
        (5.9e6, "refuted"),
        (6e6, "refuted"),
        (7e6, "refuted"),
    ],
)
def test_savings_of_known_size(hot: float, expected: str) -> None:
    """Promised: 4 of 6 ms a step."""
    found = outcome(promising(2 / 3), traced(hot))
    assert (found.outcome, found.about) == (expected, "its kernels")
    assert found.expected == pytest.approx(4e6)
    assert found.upper == pytest.approx(6e6)
    assert found.measured == pytest.approx(6e6 - hot, abs=1.0)


def test_the_reasons_say_which_way_it_failed() -> None:
    assert "less than half" in outcome(promising(2 / 3), traced(4.5e6)).reason
    assert "not applied, or of no help" in outcome(promising(2 / 3), traced(6e6)).reason
    assert "longer" in outcome(promising(2 / 3), traced(7e6)).reason


def test_a_promise_smaller_than_the_noise_cannot_be_told() -> None:
    wild = (1.0, 0.7, 1.3, 0.8, 1.2, 1.0)
    found = outcome(promising(0.05), traced(5.7e6, jitter=wild[::-1]), before=traced(6e6, jitter=wild))
    assert (found.outcome, found.reason) == ("unknown", "the saving would be within the noise")


def test_a_finding_that_promised_nothing_is_not_judged() -> None:
    assert outcome(promising(0.0), traced(2e6)).outcome == "unknown"


def test_what_others_saved_is_not_counted() -> None:
    """The step got faster, but by another kernel."""
    found = outcome(promising(2 / 3), traced(6e6, other=1e6))
    assert found.outcome == "refuted"
    assert found.measured == pytest.approx(0.0, abs=1.0)


def test_work_that_went_on_under_another_name_is_no_saving() -> None:
    """The kernel is gone, and one that nothing relates to it takes as long."""
    before = steps_of([(HOT, 6e6), (OTHER, 4e6)], STEPS)
    after = steps_of([(OTHER, 4e6), (CAST, 6e6)], STEPS)
    found = outcome(promising(2 / 3), after, before=before)
    assert (found.outcome, found.about) == ("refuted", "all kernels")
    gone = outcome(promising(2 / 3), steps_of([(OTHER, 4e6)], STEPS), before=before)
    assert gone.outcome == "confirmed"
    assert gone.measured == pytest.approx(6e6)


def test_metrics_that_go_the_other_way_leave_doubt() -> None:
    wanted = Verify("launches", "up", "this kernel")
    after = steps_of([(HOT, 2e6), (OTHER, 4e6)], STEPS)
    found = outcome(promising(2 / 3), after, wanted)
    assert [(e.before, e.after, e.movement) for e in found.expectations] == [(2.0, 1.0, "other way")]
    assert found.outcome == "partly"
    assert outcome(promising(2 / 3), after, replace(wanted, moves="down")).outcome == "confirmed"
    assert outcome(promising(2 / 3), after, Verify("sectors_global", "down", "this kernel")).outcome == "confirmed"


def test_a_faster_step_alone_confirms_nothing_about_the_device() -> None:
    """A finding without kernels is measured by the step, which other changes shorten, too."""
    idle = idle_device()
    idle = replace(idle, saving=replace(idle.saving, expected_ns=6e6, upper_ns=12e6, base_ns=None), remedies=())
    moved, still = Verify("kernel_time", "down", "whole profile"), Verify("kernels", "down", "whole profile")
    assert outcome(idle, traced(2e6), moved).outcome == "confirmed"
    assert outcome(idle, traced(2e6), still).outcome == "partly"
    assert outcome(idle, traced(2e6)).outcome == "partly"


def test_the_remedies_widen_what_was_promised() -> None:
    finding = promising(2 / 3, 0.8)
    smaller = replace(finding.saving, expected_ns=finding.saving.expected_ns / 2, upper_ns=finding.saving.upper_ns / 2)
    remedy = replace(fp32_matrix().remedies[0], saving=smaller)
    found = outcome(replace(finding, remedies=(remedy,)), traced(4.5e6))
    assert found.outcome == "confirmed"
    assert found.expected == pytest.approx(2e6)
    assert found.upper == pytest.approx(4.8e6)


def test_a_rule_that_only_sees_other_shares_is_no_news() -> None:
    """The other kernel got faster; the hot one is a larger part of a shorter step, which is not its fault."""
    before, after = reported(traced(6e6, 40e6)), reported(traced(6e6, 4e6), promising(2 / 3))
    [there] = compare(before, after).findings
    assert (there.state, there.before) == ("unchanged", None)
    [back] = compare(after, before).findings
    assert (back.state, back.after) == ("unchanged", None)
    [news] = compare(reported(traced(3e6, 40e6)), after).findings
    assert news.state == "new"


@pytest.mark.parametrize(("factor", "state"), [(1.0, "unchanged"), (1.2, "unchanged"), (2.0, "worse"), (0.4, "better")])
def test_findings_on_both_sides(factor: float, state: str) -> None:
    sides = reported(traced(6e6), promising(0.3)), reported(traced(6e6), promising(0.3 * factor))
    [found] = compare(*sides).findings
    assert found.state == state
    assert found.saving_after == pytest.approx(factor * (found.saving_before or 0.0))


def test_a_finding_of_a_renamed_kernel_is_the_same_finding() -> None:
    renamed = "void hot_kernel<float, 8>(float *, int)"
    finding = promising(0.5)
    own = replace(finding.subject.members[0], kernel=renamed, key=normalize(renamed))
    moved = replace(finding, subject=subject((own,)), fingerprint="another")
    [found] = compare(reported(traced(6e6), finding), reported(traced(6e6, name=renamed), moved)).findings
    assert found.state == "unchanged"


def test_what_was_not_evaluated_is_not_fixed() -> None:
    before = reported(traced(6e6), promising(0.5))
    nothing: Report = replace(reported(traced(6e6)).report, rules_evaluated=0)
    [found] = compare(before, Side(traced(6e6), nothing)).findings
    assert found.state == "unknown"
