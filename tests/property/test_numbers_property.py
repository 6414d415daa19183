"""Numbers written in a notation come back, or the table is refused: no notation is ever guessed."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.model.missing import Missing
from nsight_insight.model.numbers import (
    AmbiguousNumbers,
    Style,
    decide_style,
    parse_number,
    parse_numbers,
    plain_number,
    plain_numbers,
)

SEPARATORS = {
    Style.PLAIN: ("", "."),
    Style.COMMA: (",", "."),
    Style.DOT: (".", ","),
    Style.SPACE: (" ", ","),
    Style.APOSTROPHE: ("'", "."),
    Style.INDIAN: (",", "."),
}
NUMBERS = st.one_of(
    st.integers(-(10**15), 10**15).map(Decimal),
    st.decimals(-(10**9), 10**9, places=2),
    st.decimals(-(10**9), 10**9, places=6),
)


def written(number: Decimal, style: Style) -> str:
    """What ncu would print: reals of scaled columns, with six decimals, in C notation."""
    sign, text = ("-", str(number)[1:]) if number.is_signed() else ("", str(number))
    whole, _, decimals = text.partition(".")
    if len(decimals) == 6:
        return sign + text
    separator, point = SEPARATORS[style]
    return sign + grouped(whole, separator, 2 if style is Style.INDIAN else 3) + (point + decimals if decimals else "")


def grouped(digits: str, separator: str, size: int) -> str:
    head, tail = digits[:-3], digits[-3:]
    parts = [tail]
    while head:
        parts.insert(0, head[-size:])
        head = head[:-size]
    return separator.join(parts)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.sampled_from(Style))
def test_a_table_is_read_as_written_or_refused(numbers: list[Decimal], style: Style) -> None:
    cells = [written(number, style) for number in numbers]
    decided: Style | None = None
    with suppress(AmbiguousNumbers):
        decided = decide_style(cells)
    if decided is not None:
        assert [parse_number(cell, decided) for cell in cells] == [float(number) for number in numbers]


@given(st.lists(NUMBERS, max_size=20), st.sampled_from(Style))
def test_one_real_is_enough_to_know(numbers: list[Decimal], style: Style) -> None:
    cells = [written(number, style) for number in [*numbers, Decimal("1234.50")]]
    decided = decide_style(cells)
    assert [parse_number(cell, decided) for cell in cells[:-1]] == [float(number) for number in numbers]


@given(st.text(max_size=12), st.sampled_from(Style))
def test_any_text_is_a_finite_number_or_a_reason(text: str, style: Style) -> None:
    number = parse_number(text, style)
    if isinstance(number, Missing):
        assert number not in (Missing.PRESENT, Missing.ABSENT)
    else:
        digits = [character for character in text if character.isdigit()]
        assert digits
        assert number == number


@given(st.lists(st.one_of(st.none(), st.text(max_size=8), NUMBERS.map(str)), max_size=20), st.sampled_from(Style))
def test_columns_agree_with_cells(cells: list[str | None], style: Style) -> None:
    values, codes = parse_numbers(cells, style)
    for cell, value, code in zip(cells, values, codes, strict=True):
        if cell is None:
            assert code == Missing.ABSENT
        elif not code:
            assert value == value
        else:
            assert value != value


CELLS = st.one_of(st.text(max_size=8), st.tuples(NUMBERS, st.sampled_from(Style)).map(lambda pair: written(*pair)))


@given(st.lists(CELLS, max_size=20), st.sampled_from(Style))
def test_a_column_is_rewritten_as_its_cells_are(cells: list[str], style: Style) -> None:
    one_by_one = [cell if (plain := plain_number(cell, style)) is None else plain for cell in cells]
    assert plain_numbers(cells, style) == one_by_one


@given(
    st.lists(NUMBERS.filter(lambda number: number == number.quantize(Decimal("0.01"))), min_size=1),
    st.sampled_from(Style),
)
def test_a_column_in_one_notation_keeps_every_digit(numbers: list[Decimal], style: Style) -> None:
    cells = [written(number, style) for number in numbers]
    assert [Decimal(plain) for plain in plain_numbers(cells, style)] == numbers
