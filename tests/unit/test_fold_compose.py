"""Folding loses nothing, and composed savings never exceed what there is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.model.compose import compose
from nsight_insight.model.finding import Finding, Member, Saving, Subject
from nsight_insight.model.issues import Location
from nsight_insight.rules.fold import fold, restrict

HERE = Location("x.csv", 2, 3, "Total Time (ns)")


def member(kernel: str, time: float = 100.0, expected: float = 10.0) -> Member:
    return Member(kernel, kernel, 0, 1, time, expected, min(time, 2 * expected), HERE, kernel)


def finding(rule: str, *members: Member, resource: str = "work", expected: float | None = None) -> Finding:
    total = sum(m.expected_ns for m in members) if expected is None else expected
    subject = Subject("kernel", "", 0, len(members), sum(m.time_ns for m in members), 0.5, tuple(members))
    saving = Saving(total, sum(m.upper_ns for m in members) or 2 * total, 0.1, resource, "")
    return Finding(
        rule, rule, "precision", "warning", "high", subject, saving, "", "", (), (), (), "", (), rule, HERE
    )  # fmt: skip


def rules(**explains: tuple[str, ...]) -> Any:
    names = {name.replace("__", "/"): patterns for name, patterns in explains.items()}
    return {name: SimpleNamespace(id=name, explains=patterns) for name, patterns in names.items()}


def test_a_consequence_on_the_same_kernel_is_folded_not_dropped() -> None:
    cause = finding("a/cause", member("k1", expected=20))
    effect = finding("b/effect", member("k1", expected=5))
    kept = fold([effect, cause], rules(a__cause=("b/*",), b__effect=()))
    assert [f.rule for f in kept] == ["a/cause"]
    assert [f.rule for f in kept[0].explains] == ["b/effect"]


def test_a_partly_explained_finding_keeps_the_rest() -> None:
    cause = finding("a/cause", member("k1", expected=20))
    effect = finding("b/effect", member("k1", expected=5), member("k2", expected=7))
    kept = {f.rule: f for f in fold([cause, effect], rules(a__cause=("b/effect",), b__effect=()))}
    assert kept["b/effect"].saving.expected_ns == 7
    assert [m.kernel for m in kept["b/effect"].subject.members] == ["k2"]
    assert kept["a/cause"].explains[0].saving.expected_ns == 5


def test_other_devices_are_not_explained() -> None:
    cause = finding("a/cause", member("k1"))
    effect = finding("b/effect", member("k1"))
    effect = replace(effect, subject=replace(effect.subject, device=1))
    assert len(fold([cause, effect], rules(a__cause=("b/*",), b__effect=()))) == 2


def test_mutual_explanation_keeps_the_larger() -> None:
    one, two = finding("a/one", member("k", expected=3)), finding("b/two", member("k", expected=9))
    kept = fold([one, two], rules(a__one=("b/*",), b__two=("a/*",)))
    assert [f.rule for f in kept] == ["b/two"]


def test_restrict_scales_share_and_sums_members() -> None:
    whole = finding("a/x", member("k1", 100, 10), member("k2", 300, 30))
    part = restrict(whole, [whole.subject.members[0]])
    assert part.saving.expected_ns == 10
    assert part.saving.share == pytest.approx(0.1 * 10 / 40)
    assert part.subject.kernel == "k1"
    assert part.subject.time_share == pytest.approx(0.5 * 100 / 400)


def test_same_resource_takes_the_larger_other_resources_multiply() -> None:
    a = finding("a/a", member("k", 100, 50), resource="math")
    b = finding("b/b", member("k", 100, 30), resource="math")
    c = finding("c/c", member("k", 100, 50), resource="memory")
    assert compose([a, b], 1000).expected_ns == pytest.approx(50)
    assert compose([a, b, c], 1000).expected_ns == pytest.approx(75)


MEMBERS = st.lists(
    st.tuples(st.sampled_from(["k1", "k2", "k3"]), st.floats(0, 100)), min_size=1, max_size=4, unique_by=lambda p: p[0]
)


@given(st.lists(st.tuples(st.sampled_from(["math", "memory", "work"]), MEMBERS), max_size=6))
def test_composed_savings_stay_within_the_kernels_time_and_grow_with_findings(
    drawn: list[tuple[str, list[tuple[str, float]]]],
) -> None:
    found = [
        finding(f"r/{i}", *(member(k, 100.0, min(e, 100.0)) for k, e in members), resource=resource)
        for i, (resource, members) in enumerate(drawn)
    ]
    total = compose(found, 300.0)
    assert 0 <= total.expected_ns <= 300.0 + 1e-9
    assert total.expected_ns <= sum(f.saving.expected_ns for f in found) + 1e-9
    largest = max((f.saving.expected_ns for f in found), default=0.0)
    assert total.expected_ns >= largest - 1e-6
    if found:
        assert compose(found[:-1], 300.0).expected_ns <= total.expected_ns + 1e-9
    assert compose(list(reversed(found)), 300.0).expected_ns == pytest.approx(total.expected_ns)
