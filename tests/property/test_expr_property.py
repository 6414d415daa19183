"""Laws of the three-valued logic, and that no text makes the compiler do anything but compile or refuse."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.errors import RuleError
from nsight_insight.model.units import NUMBER
from nsight_insight.rules.expr import Type, compile_expression

NAMES = {name: Type("number", NUMBER) for name in "abc"}
TRUTHS = st.sampled_from(["a > 0", "b > 0", "c > 0"])
VALUES = st.lists(st.sampled_from([-1.0, 1.0, np.nan]), min_size=5, max_size=5)


def formulas() -> st.SearchStrategy[str]:
    return st.recursive(
        TRUTHS,
        lambda inner: st.one_of(
            inner.map(lambda f: f"not ({f})"),
            st.tuples(inner, inner).map(lambda p: f"(({p[0]}) and ({p[1]}))"),
            st.tuples(inner, inner).map(lambda p: f"(({p[0]}) or ({p[1]}))"),
        ),
        max_leaves=6,
    )


def run(text: str, scope: dict[str, np.ndarray]) -> np.ndarray:
    return compile_expression(text, NAMES)(scope)


@given(formulas(), formulas(), VALUES, VALUES, VALUES)
def test_de_morgan_holds_for_unknown_too(f: str, g: str, a: list[float], b: list[float], c: list[float]) -> None:
    scope = {"a": np.array(a), "b": np.array(b), "c": np.array(c)}
    if len(f) + len(g) > 180:
        return
    np.testing.assert_array_equal(run(f"not (({f}) and ({g}))", scope), run(f"(not ({f})) or (not ({g}))", scope))


@given(formulas(), VALUES, VALUES, VALUES, st.integers(0, 4), st.sampled_from("abc"), st.sampled_from([-1.0, 1.0]))
def test_more_data_never_overturns_a_verdict(
    f: str, a: list[float], b: list[float], c: list[float], row: int, name: str, value: float
) -> None:
    """Filling in an unknown may settle a verdict, it can never turn a known one over."""
    scope = {"a": np.array(a), "b": np.array(b), "c": np.array(c)}
    if not np.isnan(scope[name][row]):
        return
    before = run(f, scope)
    scope[name][row] = value
    after = run(f, scope)
    known = ~np.isnan(before)
    np.testing.assert_array_equal(before[known], after[known])


@given(st.text(max_size=60))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    try:
        compile_expression(text, NAMES)
    except RuleError:
        return
