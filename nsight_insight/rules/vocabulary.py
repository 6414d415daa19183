"""Names an expression may use: the scope's facts, the device's trace facts, parameters and lets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from nsight_insight.rules.expr import TEXT, Type
from nsight_insight.views.facts import TRACE, Fact, facts_of

TRACE_PREFIX: Final = "trace_"
"""In every other scope, ``trace_cast_time`` is the fact ``cast_time`` of the subject's device."""


@lru_cache(maxsize=8)
def facts(scope: str) -> Mapping[str, Fact]:
    """Facts of a scope, with the device's trace facts under ``trace_``."""
    found = dict(facts_of(scope))
    if scope != TRACE:
        found.update({TRACE_PREFIX + name: fact for name, fact in facts_of(TRACE).items()})
    return found


@lru_cache(maxsize=8)
def types(scope: str) -> Mapping[str, Type]:
    """Type of every fact of a scope."""
    return {name: fact_type(fact) for name, fact in facts(scope).items()}


def fact_type(fact: Fact) -> Type:
    """The expression type of a fact."""
    return TEXT if fact.kind == "text" else Type("number", fact.dimension)
