"""Errors of the library: text and place survive the way from another process."""

from __future__ import annotations

import pickle

import pytest

from nsight_insight import errors

ERRORS = [
    errors.NsightInsightError("a"),
    errors.UsageError("a"),
    errors.ConfigError("a"),
    errors.OutputError("a"),
    errors.CheckFailed("a", findings=()),
    errors.RuleError("a", file="x.yaml", line=3, column=4, path="when[0]"),
    errors.RuleErrors([errors.RuleError("a", file="x.yaml", line=3), errors.RuleError("b")]),
    errors.InputError("a", path="x.csv", line=7),
    errors.MissingInput("a", path="x.csv"),
    errors.UnrecognizedInput("a", path="x.csv", line=7),
    errors.EmptyInput("a", path="x.csv", line=7),
]


def test_every_error_of_the_hierarchy_is_tried() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert {type(error) for error in ERRORS} == kinds


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_from_another_process_is_the_same(error: errors.NsightInsightError) -> None:
    there = pickle.loads(pickle.dumps(error))  # noqa: S301 - made one line earlier
    assert type(there) is type(error)
    assert str(there) == str(error)
    assert vars(there).keys() == vars(error).keys()
    assert there.exit_code == error.exit_code
    assert getattr(there, "line", None) == getattr(error, "line", None)
