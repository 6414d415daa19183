"""The expression language: three-valued, dimension-checked, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from nsight_insight.errors import RuleError
from nsight_insight.model.units import BANDWIDTH, BYTES, FRACTION, NUMBER, TIME
from nsight_insight.rules.expr import TEXT, Type, compile_expression

NAMES = {
    "duration": Type("number", TIME),
    "limit": Type("number", TIME),
    "occupancy": Type("number", FRACTION),
    "waves": Type("number", NUMBER),
    "bytes": Type("number", BYTES),
    "bandwidth": Type("number", BANDWIDTH),
    "name": TEXT,
}
SCOPE = {
    "duration": np.array([1e-3, 2e-3, np.nan]),
    "limit": np.array([1.5e-3] * 3),
    "occupancy": np.array([0.2, np.nan, 0.9]),
    "waves": np.array([1.0, 2.0, 3.0]),
    "bytes": np.array([1e6, 1e6, 1e6]),
    "bandwidth": np.array([1e9, 2e9, 4e9]),
    "name": np.array(["a", "splitKreduce", None], dtype=object),
}
U = np.nan


def run(text: str) -> np.ndarray:
    return np.broadcast_to(compile_expression(text, NAMES)(SCOPE), (3,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("occupancy < 0.3", [1, U, 0]),
        ("occupancy < 0.3 and waves > 1", [0, U, 0]),
        ("occupancy < 0.3 or waves > 1", [1, 1, 1]),
        ("occupancy < 0.3 and waves > 5", [0, 0, 0]),
        ("not occupancy < 0.3", [0, U, 1]),
        ("0.1 < occupancy <= 0.9", [1, U, 1]),
        ("duration > limit", [0, 1, U]),
        ("duration > 0", [1, 1, U]),
        ('name == "a"', [1, 0, U]),
        ('name != "a"', [0, 1, U]),
        ('name in ["a", "b"]', [1, 0, U]),
        ('name not in ["a", "b"]', [0, 1, U]),
        ('matches(name, "splitk|streamk")', [0, 1, U]),
        ("has(occupancy)", [1, 0, 1]),
        ("duration * (1 - occupancy)", [0.8e-3, U, U]),
        ("duration - bytes / bandwidth", [0, 1.5e-3, U]),
        ("coalesce(occupancy, 0.5)", [0.2, 0.5, 0.9]),
        ("coalesce(duration, 0)", [1e-3, 2e-3, 0]),
        ("max(duration, limit)", [1.5e-3, 2e-3, U]),
        ("min(0.5, occupancy)", [0.2, U, 0.5]),
        ("where(waves > 1, duration, 0)", [0, 2e-3, U]),
        ("waves / 0", [U, U, U]),
        ("-waves + 1", [0, -1, -2]),
    ],
)
def test_values(text: str, expected: list[float]) -> None:
    np.testing.assert_allclose(run(text), expected)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("occupancy < 30", "30 % is written 0.30"),
        ("occupancy < -2", "0.30"),
        ("duration < 5", "give the number a unit"),
        ("duration + bandwidth", "cannot add"),
        ("occuppancy > 0.1", "did you mean 'occupancy'"),
        ("duration and waves > 1", "condition is needed"),
        ("name > 'a'", "texts can only be compared"),
        ("name == 3", "cannot compare"),
        ("max(duration, waves)", "differ"),
        ("name.upper()", "only these functions"),
        ("__import__('os')", "only these functions"),
        ("().__class__", "Attribute is not allowed"),
        ("[x for x in name]", "ListComp is not allowed"),
        ("(lambda: 1)()", "only these functions"),
        ("waves ** waves", "operator Pow"),
        ("waves if name else 1", "IfExp is not allowed"),
        ("f'{name}'", "JoinedStr is not allowed"),
        ("name in waves", "list of literals"),
        ("waves[0]", "Subscript is not allowed"),
        ("max(waves)", "takes 2 to 16"),
        ("max(*waves)", "takes 2 to 16"),
        ("1e999 < waves", "only numbers"),
        ("waves > b'x'", "only numbers"),
        ("waves >", "cannot parse"),
        ("waves > 1; waves", "cannot parse"),
        ("-" * 399 + "1", "nested deeper"),
        ("1" * 401, "longer than"),
        ("waves > 1 and " * 40, "longer than"),
    ],
)
def test_refused(text: str, complaint: str) -> None:
    with pytest.raises(RuleError, match=complaint):
        compile_expression(text, NAMES)


def test_optional_names_are_those_only_used_with_a_fallback() -> None:
    expression = compile_expression("coalesce(occupancy, 0.5) < 0.3 and waves > 1", NAMES)
    assert expression.names == {"occupancy", "waves"}
    assert expression.optional == {"occupancy"}


def test_error_column_points_into_the_expression() -> None:
    with pytest.raises(RuleError) as caught:
        compile_expression("waves > 1 and nonsense > 2", NAMES)
    assert caught.value.column == 15
