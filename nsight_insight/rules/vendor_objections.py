"""When a finding of NVIDIA's is known to be wrong: the table's conditions over the facts of the kernel it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

import numpy as np

from nsight_insight.catalog.vendor_rules import Objection, load_vendor_rules
from nsight_insight.model.profile import VendorFinding
from nsight_insight.model.text import quantity
from nsight_insight.model.units import FRACTION, Dimension
from nsight_insight.rules import vocabulary
from nsight_insight.rules.expr import Array, Expression, Type, compile_expression
from nsight_insight.views.facts import LAUNCH, FactTable

ESTIMATE: Final = "estimate"
GLOBAL: Final = "global"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class _Language:
    """Names of a scope with the table's parameters, and the compiled ``let``."""

    types: Mapping[str, Type]
    lets: Mapping[str, Expression]


@lru_cache(maxsize=4)
def _language(scope: str) -> _Language:
    table = load_vendor_rules()
    types = {name: Type("number", dimension) for name, (_, dimension) in table.params.items()}
    types |= {**vocabulary.types(scope), ESTIMATE: Type("number", FRACTION)}
    lets: dict[str, Expression] = {}
    for name, text in table.let.items() if scope == LAUNCH else ():
        lets[name] = compile_expression(text, types)
        types[name] = lets[name].type
    return _Language(types, lets)


@lru_cache(maxsize=1)
def compiled() -> tuple[tuple[Objection, Expression | None], ...]:
    """Every objection with its condition, None where it always holds.

    Raises:
        RuleError: a condition that is no expression over the facts of its scope.
    """
    return tuple(
        (each, compile_expression(each.condition, _language(each.scope).types) if each.condition else None)
        for each in load_vendor_rules().objections
    )


class Facts(Mapping[str, Array]):
    """Facts of one subject as arrays of length 1, with parameters, ``let`` and NVIDIA's estimate; NaN unknown."""

    def __init__(self, table: FactTable, subject: int, estimate: float | None) -> None:
        self.table, self.subject, self.estimate = table, subject, estimate
        self.language = _language(table.scope)

    def __getitem__(self, name: str) -> Array:
        if name == ESTIMATE:
            return np.array([np.nan if self.estimate is None else self.estimate])
        if name in self.language.lets:
            return self.language.lets[name](self)
        params = load_vendor_rules().params
        if name in params:
            return np.array([params[name][0]])
        values = self.table.values.get(name)
        if values is not None:
            return values[self.subject : self.subject + 1]
        text = self.language.types[name].kind == "text"
        return np.array([None], dtype=object) if text else np.array([np.nan])

    def __iter__(self) -> Iterator[str]:
        return iter(self.language.types)

    def __len__(self) -> int:
        return len(self.language.types)

    def told(self, template: str) -> str:
        """The template with its names replaced by values."""
        return _PLACEHOLDER.sub(lambda found: self.words(found[1]), template)

    def words(self, name: str) -> str:
        """A value as a person would write it."""
        value = self[name][0]
        dimension: Dimension = self.language.types[name].dimension
        return quantity(value if value is None or isinstance(value, str) else float(value), dimension)


def objection_to(finding: VendorFinding, facts: Mapping[str, Facts]) -> tuple[Objection, str] | None:
    """The first objection that holds, and its reason in words; None where there is none.

    Args:
        finding: NVIDIA's.
        facts: scope -> facts of what the finding is about, where they are known.
    """
    for objection, condition in compiled():
        if not any(fnmatchcase(finding.rule, pattern) for pattern in objection.rules):
            continue
        if (objection.time_only and finding.scope != GLOBAL) or not objection.text.search(finding.text):
            continue
        known = facts.get(objection.scope)
        if condition is None:
            return objection, objection.say
        if known is not None and condition(known)[0] == 1.0:
            return objection, known.told(objection.say)
    return None
