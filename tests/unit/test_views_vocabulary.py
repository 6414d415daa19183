"""The vocabulary that rules are checked against."""

from __future__ import annotations

import keyword
from collections import Counter

import pytest

from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.views.facts import FAMILIES, KERNEL, LAUNCH, SCOPES, SEQUENCE, STALLS, TRACE, facts_of
from nsight_insight.views.vocabulary import declared_facts

NEEDS_OF_OTHER_REPORTS = {
    "memcpy", "memcpy_kind", "memcpy_bytes", "api", "tensor_ops", "gpu_faults", "migrations", "gpu_metrics",
}  # fmt: skip


def test_a_name_is_declared_once_per_scope() -> None:
    counted = Counter((fact.name, scope) for fact in declared_facts() for scope in fact.scopes)
    assert [pair for pair, number in counted.items() if number > 1] == []


@pytest.mark.parametrize("scope", SCOPES)
def test_facts_can_be_named_in_expressions_and_explained(scope: str) -> None:
    for name, fact in facts_of(scope).items():
        assert name == fact.name
        assert name.isidentifier()
        assert not keyword.iskeyword(name)
        assert len(fact.doc) > 3
        assert fact.kind in ("number", "text")
        assert (
            not fact.column or fact.column in ACTIVITY_COLUMNS or fact.column in load_metrics() or fact.kind == "text"
        )


@pytest.mark.parametrize("scope", SCOPES)
def test_what_a_fact_needs_can_be_collected(scope: str) -> None:
    known = {*ACTIVITY_COLUMNS, *load_metrics(), *NEEDS_OF_OTHER_REPORTS}
    for fact in facts_of(scope).values():
        assert set(fact.needs) <= known, fact.name


def test_metrics_are_facts_of_metered_scopes_only() -> None:
    for name in load_metrics():
        assert name in facts_of(LAUNCH)
        assert name in facts_of(KERNEL)
        assert name not in facts_of(SEQUENCE)
        assert name not in facts_of(TRACE)


def test_every_stall_and_family_has_its_facts() -> None:
    assert {f"stall_share_{name}" for name in STALLS} <= facts_of(LAUNCH).keys()
    assert {f"stall_{name}" for name in STALLS} <= load_metrics().keys()
    assert {f"{stem}_{name}" for stem in ("time", "launches") for name in FAMILIES} <= facts_of(TRACE).keys()
