"""Laws of assuming findings to be fixed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.model.compose import compose
from nsight_insight.model.finding import Finding, Report
from nsight_insight.model.totals import DeviceTotals, Totals
from nsight_insight.model.what_if import WORTH, what_if
from tests.unit.make_report import report
from tests.unit.test_fold_compose import finding, member

KERNEL_NS, IDLE_NS, COPY_NS = 300.0, 80.0, 50.0
EPSILON = 1e-6
KERNELS = ["k1", "k2", "k3"]
MEMBERS = st.lists(
    st.tuples(st.sampled_from(KERNELS), st.floats(0, 100)), min_size=1, max_size=3, unique_by=lambda pair: pair[0]
)
ON_KERNELS = st.tuples(st.just("kernels"), st.sampled_from(["math", "memory", "work", "occupancy"]), MEMBERS)
ON_DEVICE = st.tuples(st.sampled_from(["idle", "transfer", "device"]), st.just("host"), st.floats(0, 120))
FINDINGS = st.lists(ON_KERNELS | ON_DEVICE, max_size=6)
Drawn = tuple[str, str, object]


def made(number: int, drawn: Drawn) -> Finding:
    kind, resource, amount = drawn
    if kind == "kernels":
        assert isinstance(amount, list)
        members = [member(name, 100.0, saves) for name, saves in amount]
        return finding(f"precision/r{number}", *members, resource=resource)
    assert isinstance(amount, float)
    one = finding(f"{kind}/r{number}", resource=resource, expected=amount)
    base = {"idle": IDLE_NS, "transfer": KERNEL_NS + COPY_NS, "device": None}[kind]
    return replace(one, category=kind, saving=replace(one.saving, base_ns=base))


def reported(drawn: list[Drawn], host: float | None = None) -> Report:
    found = tuple(made(number, one) for number, one in enumerate(drawn))
    totals = Totals(KERNEL_NS, 10, 3, copy_ns=COPY_NS, steady_busy_ns=300.0, steady_window_ns=300.0 + IDLE_NS)
    device = DeviceTotals(
        0, "", KERNEL_NS, 10, steady=True, window_ns=300.0 + IDLE_NS, busy_ns=300.0, host_bound_share=host
    )
    whole = report(totals=totals, device_totals=(device,), potential=compose(found, KERNEL_NS, IDLE_NS, COPY_NS))
    return replace(whole, findings=found)


@given(FINDINGS)
def test_assuming_nothing_is_now(drawn: list[Drawn]) -> None:
    whole = reported(drawn)
    for found in (whole.what_if(), whole.what_if("no/such-rule")):
        assert found.base_ns == found.expected_ns == found.best_ns
        assert found.base_ns == (whole.potential.base_ns or KERNEL_NS)
        assert [left.finding.rule for left in found.remaining if left.reason] == []


@given(FINDINGS)
def test_assuming_all_is_the_potential(drawn: list[Drawn]) -> None:
    whole = reported(drawn)
    found = whole.what_if("all")
    assert found.base_ns - found.expected_ns == pytest.approx(whole.potential.expected_ns)
    assert found.base_ns - found.best_ns == pytest.approx(whole.potential.upper_ns, abs=EPSILON)
    assert found.remaining == ()


@given(FINDINGS, st.data())
def test_assuming_more_never_takes_longer(drawn: list[Drawn], data: st.DataObject) -> None:
    whole = reported(drawn)
    rules = [one.rule for one in whole.findings]
    some = data.draw(st.lists(st.sampled_from(rules), unique=True)) if rules else []
    more = data.draw(st.lists(st.sampled_from(rules), unique=True)) if rules else []
    less, greater = whole.what_if(*some), whole.what_if(*some, *more)
    assert greater.expected_ns <= less.expected_ns + EPSILON
    assert greater.best_ns <= less.best_ns + EPSILON


@given(FINDINGS, st.data())
def test_the_order_does_not_matter_and_repeating_changes_nothing(drawn: list[Drawn], data: st.DataObject) -> None:
    whole = reported(drawn)
    rules = [one.rule for one in whole.findings]
    order = data.draw(st.permutations(rules))
    one, other = whole.what_if(*rules), whole.what_if(*order, *order)
    assert other.expected_ns == pytest.approx(one.expected_ns, abs=EPSILON)
    shuffled = replace(whole, findings=tuple(data.draw(st.permutations(whole.findings))))
    assert shuffled.what_if(*rules[:2]).expected_ns == pytest.approx(whole.what_if(*rules[:2]).expected_ns, abs=EPSILON)


@given(FINDINGS)
def test_times_stay_between_the_potential_and_now(drawn: list[Drawn]) -> None:
    whole = reported(drawn)
    for size in range(len(whole.findings) + 1):
        for chosen in combinations([one.rule for one in whole.findings], size):
            found = whole.what_if(*chosen)
            assert -EPSILON <= found.best_ns <= found.expected_ns + EPSILON
            assert found.expected_ns <= found.base_ns + EPSILON
            assert found.expected_ns >= found.base_ns - whole.potential.expected_ns - EPSILON
            parts = found.expected_parts
            assert min(parts.kernels, parts.idle, parts.copies) >= -EPSILON
            assert parts.total == pytest.approx(found.expected_ns)


@given(FINDINGS, st.data())
def test_what_remains_is_what_one_more_would_bring(drawn: list[Drawn], data: st.DataObject) -> None:
    whole = reported(drawn)
    rules = [one.rule for one in whole.findings]
    some = data.draw(st.lists(st.sampled_from(rules), unique=True)) if rules else []
    found = whole.what_if(*some)
    assert {left.finding.rule for left in found.remaining} == set(rules) - set(some)
    for left in found.remaining:
        more = whole.what_if(*some, left.finding.rule)
        assert left.expected_ns == pytest.approx(found.expected_ns - more.expected_ns, abs=EPSILON)
        assert left.expected_ns <= left.finding.saving.expected_ns + EPSILON
        assert left.pays == (left.expected_ns >= WORTH * found.base_ns)


@given(FINDINGS, st.floats(0, 1))
def test_the_host_makes_what_remains_smaller_never_larger(drawn: list[Drawn], share: float) -> None:
    free, bound = reported(drawn).what_if("precision/r0"), reported(drawn, host=share).what_if("precision/r0")
    assert bound.expected_ns == free.expected_ns
    there = {left.finding.rule: left for left in free.remaining}
    for left in bound.remaining:
        assert left.expected_ns <= there[left.finding.rule].expected_ns + EPSILON
        assert left.upper_ns == there[left.finding.rule].upper_ns
    assert bound.host_share is not None
    assert all(0.0 <= part <= 1.0 for part in bound.host_share)


def test_a_shorter_gpu_waits_more_and_says_so() -> None:
    drawn: list[Drawn] = [("kernels", "math", [("k1", 90.0), ("k2", 90.0)]), ("kernels", "memory", [("k3", 50.0)])]
    found = reported(drawn, host=0.4).what_if("precision/r0")
    # Of the 380 ns window the GPU waits 152; 180 of 300 ns of kernels are gone.
    assert found.host_share == (pytest.approx(0.4), pytest.approx(152 / 200))
    [left] = found.remaining
    assert left.expected_ns == pytest.approx(50 * (1 - 152 / 200))
    assert left.reason == "the GPU would wait for the host 76.0 % of the steady window"
    assert found.largest == left


def test_the_same_resource_on_the_same_kernel_no_longer_pays() -> None:
    drawn: list[Drawn] = [("kernels", "math", [("k1", 60.0)]), ("kernels", "math", [("k1", 60.0)])]
    found = what_if(reported(drawn), "precision/r0")
    [left] = found.faded
    assert (left.expected_ns, left.pays) == (0.0, False)
    assert left.reason == "precision/r0 already saves that time"
    assert found.largest is None
