"""One rule over one fact table: who fires, who cannot be judged, and what each would save."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsight_insight.rules import vocabulary
from nsight_insight.rules.expr import Array, Expression, kleene_and
from nsight_insight.rules.model import Rule, SavingRule
from nsight_insight.views.facts import FactTable

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """Per subject of ``table``: fired, unknown, and savings in seconds of the time base (NaN if not fired).

    ``scope`` holds every array the rule's texts may mention; ``gaps`` names per unknown subject the facts
    that are not there. ``applies`` marks the subjects that the rule is about at all.
    """

    rule: Rule
    table: FactTable
    scope: Mapping[str, Array]
    fired: Bools
    unknown: Bools
    expected: Floats
    upper: Floats
    remedies: Mapping[str, tuple[Floats, Floats]]
    gaps: frozenset[str]
    applies: Bools


def evaluate(rule: Rule, table: FactTable, device_facts: FactTable, tools: Array) -> Outcome:
    """Judge every subject.

    Args:
        rule: the rule.
        table: facts of the rule's scope.
        device_facts: the trace table, for names starting with ``trace_``.
        tools: tool per subject (``ncu``, ``nsys``), for ``applies_to``.
    """
    size = len(table)
    scope = FactScope(rule, table, device_facts)
    applies = _applies(rule, scope, tools, size)
    verdict = np.ones(size)
    for clause in rule.when:
        verdict = kleene_and(verdict, _full(clause.condition(scope), size))
    scope["upper"] = _full(rule.saving.upper(scope), size)
    expected, upper = _savings(rule.saving, scope, table)
    fired = applies & (verdict == 1.0)
    unknown = applies & np.isnan(verdict)
    priced = ~np.isnan(expected) & ~np.isnan(upper)
    unknown |= fired & ~priced
    fired &= priced
    gaps = _gaps(rule, scope, unknown, verdict)
    remedies = {
        remedy.id: _remedy_savings(remedy.saving, rule, table, device_facts)
        for remedy in rule.remedies
        if remedy.saving is not None
    }
    return Outcome(rule, table, scope, fired, unknown, expected, upper, remedies, gaps, applies)


class FactScope(dict[str, Array]):
    """Name -> array for one rule, each fetched when it is first asked for; unknown facts are NaN or None.

    Raises:
        KeyError: a name that is neither fact, parameter nor let of the rule.
    """

    def __init__(self, rule: Rule, table: FactTable, device_facts: FactTable) -> None:
        super().__init__()
        self.rule, self.table, self.device_facts = rule, table, device_facts

    def __missing__(self, name: str) -> Array:
        self[name] = values = self._fetch(name)
        return values

    def _fetch(self, name: str) -> Array:
        size = len(self.table)
        if name in self.rule.params:
            return np.full(size, self.rule.params[name].value)
        if name in self.rule.let:
            return _full(self.rule.let[name](self), size)
        fact = vocabulary.facts(self.rule.scope)[name]
        values = _device_values(name, self.table, self.device_facts)
        if values is None:
            values = self.table.values.get(name)
        if values is not None:
            return values
        return np.full(size, None, dtype=object) if fact.kind == "text" else np.full(size, np.nan)


def _device_values(name: str, table: FactTable, device_facts: FactTable) -> Array | None:
    if not name.startswith(vocabulary.TRACE_PREFIX) or name in table.values:
        return None
    values = device_facts.values.get(name.removeprefix(vocabulary.TRACE_PREFIX))
    if values is None or not len(device_facts):
        return None
    row_of = {int(device): row for row, device in enumerate(device_facts.devices)}
    rows = np.array([row_of.get(int(device), -1) for device in table.devices], dtype=np.int64)
    picked = values[rows]
    if values.dtype == object:
        return np.array([value if row >= 0 else None for value, row in zip(picked, rows, strict=True)], dtype=object)
    return np.where(rows >= 0, picked, np.nan)


def _applies(rule: Rule, scope: Mapping[str, Array], tools: Array, size: int) -> Bools:
    mask = np.ones(size, dtype=bool)
    for key, wanted in rule.applies_to.items():
        values = tools if key == "tool" else scope[key]
        mask &= np.isin(np.array([str(value) for value in values]), wanted)
    if rule.applies_cc is not None:
        low, high = rule.applies_cc
        known = "cc" in vocabulary.facts(rule.scope)
        cc = np.where(np.isnan(scope["cc"]), scope["min_cc"], scope["cc"]) if known else scope["min_cc"]
        with np.errstate(invalid="ignore"):
            mask &= (cc >= low) & (cc <= high)
    return mask


def _savings(saving: SavingRule, scope: Mapping[str, Array], table: FactTable) -> tuple[Floats, Floats]:
    """Expected and upper in seconds of the time base, within [0, the subject's time]."""
    size = len(table)
    upper, expected = _full(saving.upper(scope), size), _full(saving.expected(scope), size)
    if "duration" not in table.values:
        return np.maximum(np.minimum(expected, upper), 0.0), np.maximum(upper, 0.0)
    duration = table.values["duration"]
    with np.errstate(all="ignore"):
        scale = np.where(duration > 0, table.time / duration, 0.0)
    upper = np.clip(upper * scale, 0.0, table.time)
    return np.clip(expected * scale, 0.0, upper), upper


def _remedy_savings(saving: SavingRule, rule: Rule, table: FactTable, device_facts: FactTable) -> tuple[Floats, Floats]:
    scope = FactScope(rule, table, device_facts)
    scope["upper"] = _full(saving.upper(scope), len(table))
    return _savings(saving, scope, table)


def _gaps(rule: Rule, scope: Mapping[str, Array], unknown: Bools, verdict: Array) -> frozenset[str]:
    if not unknown.any():
        return frozenset()
    expressions: list[Expression] = []
    if np.isnan(verdict[unknown]).any():
        expressions += [
            c.condition for c in rule.when if np.isnan(_full(c.condition(scope), len(unknown))[unknown]).any()
        ]
    if (~np.isnan(verdict[unknown])).any():
        expressions += [rule.saving.upper, rule.saving.expected]
    missing = [_missing_names(_required(e, rule), scope, unknown) for e in expressions]
    if not any(missing):
        # Only names with a fallback are unknown, so the fallback was unknown too.
        missing = [_missing_names(expand(e.names, rule), scope, unknown) for e in expressions]
    return frozenset[str]().union(*missing)


def _required(expression: Expression, rule: Rule) -> frozenset[str]:
    return expand(expression.names - expression.optional, rule, with_fallbacks=False)


def _missing_names(names: frozenset[str], scope: Mapping[str, Array], unknown: Bools) -> frozenset[str]:
    """The facts of ``names`` that are not there for some subject that could not be judged."""
    return frozenset(name for name in names if _missing(scope[name][unknown]).any())


def expand(names: frozenset[str], rule: Rule, *, with_fallbacks: bool = True) -> frozenset[str]:
    """The facts behind ``names``: every let replaced by the facts it uses, parameters left out.

    ``with_fallbacks=False`` leaves out what a let reads only inside ``coalesce`` or ``has``.
    """
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in rule.let:
            let = rule.let[name]
            todo.extend(let.names if with_fallbacks else let.names - let.optional)
        elif name not in rule.params and name != "upper":
            found.add(name)
    return frozenset(found)


def _missing(values: Array) -> Bools:
    if values.dtype == object:
        return np.array([value is None for value in values], dtype=bool)
    return np.isnan(values)


def _full(values: Array, size: int) -> Array:
    return values if len(values) == size else np.repeat(values, size) if len(values) == 1 else values
