"""Numbers in the notations ncu prints them in."""

from __future__ import annotations

import numpy as np
import pytest

from nsight_insight.model.missing import Missing
from nsight_insight.model.numbers import (
    AmbiguousNumbers,
    Style,
    decide_style,
    leading_aggregate,
    parse_number,
    parse_numbers,
)

# The same five values of one report, printed by ncu 2024.1.1 and 2020.3.1 under the locale named.
PRINTED = {
    Style.PLAIN: ("6054525627.04", "40388", "1916.45", "0.49", "100"),
    Style.COMMA: ("6,054,525,627.04", "40,388", "1,916.45", "0.49", "100"),
    Style.DOT: ("6.054.525.627,04", "40.388", "1.916,45", "0,49", "100"),
    Style.SPACE: ("6 054 525 627,04", "40 388", "1 916,45", "0,49", "100"),
    Style.APOSTROPHE: ("6'054'525'627.04", "40'388", "1'916.45", "0.49", "100"),
    Style.INDIAN: ("6,05,45,25,627.04", "40,388", "1,916.45", "0.49", "100"),
}
VALUES = (6054525627.04, 40388.0, 1916.45, 0.49, 100.0)


@pytest.mark.parametrize("style", Style)
def test_every_notation_is_recognised_and_read(style: Style) -> None:
    cells = PRINTED[style]
    assert decide_style(cells) is style
    assert tuple(parse_number(cell, style) for cell in cells) == VALUES
    values, codes = parse_numbers(cells, style)
    assert values.tolist() == list(VALUES)
    assert not codes.any()


@pytest.mark.parametrize("decimals", [",04", ".04"])
def test_the_broken_separator_of_2020_is_told_by_the_decimals(decimals: str) -> None:
    cells = ["6\ufffd054\ufffd525\ufffd627" + decimals, "29\ufffd344"]
    style = decide_style(cells)
    assert style is (Style.SPACE if decimals == ",04" else Style.APOSTROPHE)
    assert [parse_number(cell, style) for cell in cells] == [6054525627.04, 29344.0]


@pytest.mark.parametrize(
    ("cells", "style"),
    [
        (["1,024"], Style.COMMA),  # three decimals are never printed
        (["2,720", "3.36"], Style.COMMA),
        (["117.344", "65,77"], Style.DOT),
        (["117.344", "27.595.520"], Style.DOT),
        (["1.024", "2.50"], Style.PLAIN),
        (["0.123"], Style.PLAIN),  # a group does not start with 0
        (["1.0247", "12"], Style.PLAIN),
        (["0,49"], Style.DOT),
        (["384", "0", "16"], Style.PLAIN),
        (["1.830.000", "4.000000", "0.097631"], Style.DOT),  # German raw page: scaled columns stay in C notation
        (["n/a", "", "(4, 1, 1)", "CachePreferNone", "32,1,1", "1,024"], Style.COMMA),
        (["1,234.5 (1; 2)", "17 (0; 17)"], Style.COMMA),
        ([], Style.PLAIN),
    ],
)
def test_decision_per_table(cells: list[str], style: Style) -> None:
    assert decide_style(cells) is style


def test_a_lone_point_group_is_not_guessed() -> None:
    with pytest.raises(AmbiguousNumbers) as caught:
        decide_style(["1.024", "384", "12"])
    assert caught.value.cell == "1.024"
    assert caught.value.readings == {Style.PLAIN: 1.024, Style.DOT: 1024.0}
    assert "1.024 (plain) or 1024 (dot)" in str(caught.value)


def test_contradictory_notations_are_not_guessed() -> None:
    with pytest.raises(AmbiguousNumbers):
        decide_style(["1.024", "2.048", "3.50", "4,50"])


def test_one_damaged_cell_does_not_cost_the_table() -> None:
    cells = ["1,024", "2,048.50", "3,1"]
    assert decide_style(cells) is Style.COMMA
    assert parse_number("3,1", Style.COMMA) is Missing.UNPARSABLE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Missing.EMPTY),
        ("  ", Missing.EMPTY),
        ("n/a", Missing.UNSUPPORTED),
        ("(!) n/a", Missing.UNSUPPORTED),
        ("(!) nan", Missing.FAILED),
        ("nan", Missing.FAILED),
        ("-nan", Missing.FAILED),
        ("inf", Missing.FAILED),
        ("no data", Missing.FAILED),
        ("-", Missing.FAILED),
        ("NA", Missing.UNPARSABLE),
        ("32,1,1", Missing.UNPARSABLE),
        ("1,2345", Missing.UNPARSABLE),
        ("0,123", Missing.UNPARSABLE),
        ("1_000", Missing.UNPARSABLE),
        ("0x10", Missing.UNPARSABLE),
        ("1.2.3", Missing.UNPARSABLE),
        ("--1", Missing.UNPARSABLE),
        ("1e999", Missing.UNPARSABLE),
        ("9" * 400, Missing.UNPARSABLE),
        ("\u0661\u0662", Missing.UNPARSABLE),
        ("17,664 (0; 0; 3)", Missing.UNPARSABLE),
    ],
)
def test_what_is_no_number_says_why(text: str, reason: Missing) -> None:
    assert parse_number(text, Style.COMMA) is reason


@pytest.mark.parametrize(
    ("text", "value"), [("-1,141", -1141.0), ("1e3", 1000.0), ("17664.000000", 17664.0), (" 5 ", 5.0)]
)
def test_signs_exponents_and_c_notation(text: str, value: float) -> None:
    assert parse_number(text, Style.COMMA) == value


def test_c_notation_with_six_decimals_is_read_in_every_style() -> None:
    assert {parse_number("17664.000000", style) for style in Style} == {17664.0}


@pytest.mark.parametrize(
    ("text", "aggregate"),
    [
        ("17,664 (0; 0; 3)", "17,664"),
        ("12 (key: 1; key: 2)", "12"),
        ("11.80 (11.80)", "11.80"),
        ("(1745303366787136288 (+0): 0; 1745303366787137792 (+1504): 0.01)", ""),
        ("32.00; 4.00; 0.00", ""),
        ("(!) nan", "(!) nan"),
        ("42", "42"),
        ("", ""),
    ],
)
def test_leading_aggregate_of_instances(text: str, aggregate: str) -> None:
    assert leading_aggregate(text) == aggregate


def test_columns_keep_a_reason_for_each_gap() -> None:
    values, codes = parse_numbers(["1,024", None, "", "n/a", "no data", "abc", "5 (2; 3)"], Style.COMMA)
    assert np.isnan(values).tolist() == [False, True, True, True, True, True, False]
    assert values[[0, 6]].tolist() == [1024.0, 5.0]
    assert codes.tolist() == [
        Missing.PRESENT,
        Missing.ABSENT,
        Missing.EMPTY,
        Missing.UNSUPPORTED,
        Missing.FAILED,
        Missing.UNPARSABLE,
        Missing.PRESENT,
    ]


@pytest.mark.parametrize("style", Style)
def test_the_quick_path_for_plain_columns_agrees_with_the_careful_one(style: Style) -> None:
    cells = ["1", "22.5", "-3", "0.000001", "1.024", "1.000.000", "", "4-4", "5.", "6\n7", "8", "9" * 400]
    for size in range(len(cells) + 1):
        for part in (cells[:size], cells[size:]):
            values, codes = parse_numbers(part, style)
            for cell, value, code in zip(part, values, codes, strict=True):
                expected = parse_number(cell, style)
                if isinstance(expected, Missing):
                    assert (code, np.isnan(value)) == (expected, True), cell
                else:
                    assert (code, value) == (Missing.PRESENT, expected), cell
