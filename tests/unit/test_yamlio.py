"""Restricted YAML: what loads, what is refused and where each value stands, with both of PyYAML's parsers."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.catalog import yamlio
from nsight_insight.catalog.yamlio import load_data, load_marked, load_yaml
from nsight_insight.errors import RuleError

PARSERS = [yaml.SafeLoader] + ([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.__name__)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(yamlio, "_LOADER", request.param)
    return request.param


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("0", 0),
        ("-12", -12),
        ("+4", 4),
        ("1e3", 1000.0),
        ("2.5e-3", 0.0025),
        (".5", 0.5),
        ("5.", 5.0),
        ("8.10", 8.1),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("True", "True"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("0x10", "0x10"),
        ("0o10", "0o10"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("2024-01-01", "2024-01-01"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("1.2.3", "1.2.3"),
        ("9" * 200, int("9" * 200)),
    ],
)
def test_scalars(parser: Any, text: str, value: object) -> None:
    loaded = load_yaml(f"[{text}]", "f")[0]
    assert loaded == value
    assert type(loaded) is type(value)


def test_nested_document(parser: Any) -> None:
    text = "\ufeffa: {b: [1, two, ''], c: }\nd: |\n  x\n  y\ne: >-\n  x\n  y\n7.5: k\ntrue: t\n"
    assert load_yaml(text, "f") == {
        "a": {"b": [1, "two", ""], "c": None},
        "d": "x\ny\n",
        "e": "x y",
        "7.5": "k",
        "true": "t",
    }


def test_empty_document(parser: Any) -> None:
    assert load_yaml("", "f") is None
    assert load_yaml("# nothing\n", "f") is None


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, "key 'a' is repeated; its first value is in line 1"),
        ("a: &x 1\n", 1, 4, "anchors"),
        ("&x a: 1\n", 1, 1, "anchors"),
        ("a: [1]\nb: *x\n", 2, 4, "anchors"),
        ("a: !!int '1'\n", 1, 4, "tag"),
        ("a: ! x\n", 1, 4, "tag"),
        ("!!str a: 1\n", 1, 1, "tag"),
        ("? [a]\n: 1\n", 1, 3, "plain text"),
        ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
        ("a: 1e999\n", 1, 4, "too large"),
        ("a: " + "9" * 400, 1, 4, "too large"),
        ("a:\n  b\n c: 2\n", 3, 3, "mapping values are not allowed"),
        ("a:\n\tb: 1\n", 2, 1, "cannot start any token"),
        ("a: 1\nb: \x01\n", 2, 4, "U+0001"),
        ("a: 1\nb: \ud800\n", 2, 4, ""),
        ("[" * 60 + "]" * 60, 1, 41, "deeper than 40"),
    ],
)
def test_refused_with_its_place(parser: Any, text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(RuleError) as caught:
        load_yaml(text, "rules/x.yaml")
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert words in error.text
    assert str(error).startswith(f"rules/x.yaml:{line}:{column}: ")


def test_merge_keys_do_not_merge(parser: Any) -> None:
    assert load_yaml("<<: {a: 1}\nb: 2\n", "f") == {"<<": {"a": 1}, "b": 2}


MARKED = """\
schema: 1
when:
  - id: busy
    expr: "sm_throughput > 0.8"
  - {id: idle, expr: x < 1}
tests:
  given:
    - [1, 2]
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("schema",), (1, 9)),
        (("when",), (2, 1)),
        (("when", 0), (3, 5)),
        (("when", 0, "expr"), (4, 12)),
        (("when", 1), (5, 5)),
        (("when", 1, "expr"), (5, 22)),
        (("tests", "given"), (7, 3)),
        (("tests", "given", 0, 1), (8, 11)),
        (("when", 1, "missing", "deeper"), (5, 5)),
        (("when", 7), (2, 1)),
        (("nowhere",), (1, 1)),
    ],
)
def test_marks(parser: Any, path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    _, marks = load_marked(MARKED, "f")
    assert marks.at(path) == place


def test_mark_of_a_quoted_text_is_its_first_character(parser: Any) -> None:
    line, column = load_marked(MARKED, "f")[1].at(("when", 0, "expr"))
    assert MARKED.splitlines()[line - 1][column - 1 :].startswith("sm_throughput")


TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_agrees_with_json(value: object) -> None:
    """JSON is YAML, its surrogate pairs apart: what json writes must come back unchanged."""
    assert load_yaml(json.dumps(value), "f") == value


@given(st.text(max_size=60))
def test_any_text_loads_or_is_a_rule_error(text: str) -> None:
    places: list[str] = []
    try:
        load_marked(text, "f")
    except RuleError as error:
        places.append(error.file)
    assert set(places) <= {"f"}


@given(st.text(alphabet="ab:-[]{},'\"#&*!|> \n1.", max_size=40))
def test_parsers_agree(text: str) -> None:
    """What both parsers accept means the same to both."""
    outcomes = []
    for loader in PARSERS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(yamlio, "_LOADER", loader)
            try:
                outcomes.append(load_marked(text, "f"))
            except RuleError:
                return
    values = [value for value, _ in outcomes]
    assert all(repr(value) == repr(values[0]) for value in values)


def test_package_data_is_read_once() -> None:
    assert load_data("sections.yaml") is load_data("sections.yaml")
