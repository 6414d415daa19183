"""Why a rule of ours stays silent about a subject, in words: the first of its conditions that does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.model.text import quantity
from nsight_insight.model.units import NUMBER, Dimension, parse_unit
from nsight_insight.rules import vocabulary
from nsight_insight.rules.expr import Array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nsight_insight.rules.evaluate import Outcome
    from nsight_insight.rules.model import Clause

VALUES: Final = 4
"""Values that are told of one condition."""


def why_silent(outcome: Outcome, subject: int) -> str:
    """``occupancy/small-grid asks for busiest < roof; here busiest 81.3 %, roof 60.0 %``."""
    for clause in outcome.rule.when:
        truth = clause.condition(outcome.scope)
        if truth[subject if len(truth) > 1 else 0] == 0.0:
            return (
                f"{outcome.rule.id} asks for {_one_line(clause)}; here {', '.join(_values(clause, outcome, subject))}"
            )
    return f"{outcome.rule.id} looked at it and found nothing to save"


def _one_line(clause: Clause) -> str:
    return " ".join(clause.condition.text.split())


def _values(clause: Clause, outcome: Outcome, subject: int) -> Iterator[str]:
    told = sorted(clause.condition.names, key=lambda name: (name in outcome.rule.params, name))
    for name in told[:VALUES]:
        values: Array = outcome.scope[name]
        value = values[subject if len(values) > 1 else 0]
        number = value if value is None or isinstance(value, str) else float(value)
        yield f"{name} {quantity(number, _dimension(name, outcome))}"


def _dimension(name: str, outcome: Outcome) -> Dimension:
    rule = outcome.rule
    if name in rule.params:
        unit = parse_unit(rule.params[name].unit)
        return unit.dimension if unit else NUMBER
    if name in rule.let:
        return rule.let[name].type.dimension
    return vocabulary.facts(rule.scope)[name].dimension
