"""What a rule reads, down to metrics, activity columns and reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsight_insight.catalog.metrics import load_columns, load_metrics
from nsight_insight.rules import vocabulary
from nsight_insight.rules.evaluate import expand
from nsight_insight.rules.expr import Expression
from nsight_insight.rules.model import Rule
from nsight_insight.views.facts import SEQUENCE

_METRIC_GROUP: Final = "tensor_ops"
"""A need that stands for the metrics of all operand types."""


def needs_of(rule: Rule) -> tuple[str, ...]:
    """Everything a rule needs to judge: canonical metrics, activity columns, and what only nsys reports hold.

    Facts without needs of their own (families, names) come with any kernel row, so that a rule about nothing else
    needs durations alone.
    """
    names = sorted(expand(frozenset[str]().union(*(e.names for e in _expressions(rule))), rule))
    facts = vocabulary.facts(rule.scope)
    needs = dict.fromkeys(need for name in names if name in facts for need in facts[name].needs)
    if rule.scope == SEQUENCE:
        needs.setdefault("start")
    return tuple(needs) or ("duration",)


def tools_of(rule: Rule) -> tuple[str, ...]:
    """The profilers whose data a rule can be judged by, the usual one first.

    Metrics come from ``ncu`` alone, API calls, copies and start times from ``nsys``, durations and launch shapes from
    both.
    """
    asked = rule.applies_to.get("tool", ())
    if asked:
        return asked
    needs = needs_of(rule)
    if any(is_metric(need) for need in needs):
        return ("ncu",)
    return ("nsys", "ncu") if all(need in load_columns() for need in needs) else ("nsys",)


def is_metric(need: str) -> bool:
    """Whether only Nsight Compute measures it."""
    return (need in load_metrics() or need == _METRIC_GROUP) and need not in load_columns()


def _expressions(rule: Rule) -> Iterator[Expression]:
    yield from (clause.condition for clause in rule.when)
    yield rule.saving.upper
    yield rule.saving.expected
