"""Numbers as ncu prints them: six notations, one decided per table, nothing guessed.

ncu follows the locale of the process that prints: ``40388``, ``40,388``, ``40.388``, ``40 388``, ``40'388`` and
``56,64,97,502`` are all in the field. Reals carry two or six decimals, never three, so ``1,024`` is a grouped integer;
``1.024`` is not that clear, because tools that re-save a table print any number of decimals. On the raw page columns
with a scaled unit stay in C notation with six decimals (``17664.000000``) whatever the locale; a group always has three
digits, so those can be told from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from math import inf, isfinite
from typing import Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.missing import Missing

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]


class Style(StrEnum):
    """How a table writes numbers, named by an example's group separator."""

    PLAIN = "plain"
    """``1234.5``"""
    COMMA = "comma"
    """``1,234.5``"""
    DOT = "dot"
    """``1.234,5``"""
    SPACE = "space"
    """``1 234,5``; ncu 2020.3 writes a broken byte for the space, which decodes to U+FFFD."""
    APOSTROPHE = "apostrophe"
    """``1'234.5``, with the same broken byte in ncu 2020.3."""
    INDIAN = "indian"
    """``12,34,567.8``"""


class AmbiguousNumbers(ValueError):
    """A table whose numbers can be read in two ways.

    Attributes:
        cell: a cell that shows it.
        readings: notation -> value of the cell, at least two different ones.
    """

    def __init__(self, cell: str, readings: dict[Style, float]) -> None:
        self.cell, self.readings = cell, readings
        ways = " or ".join(f"{value:.15g} ({style})" for style, value in readings.items())
        super().__init__(f"{cell!r} may be {ways}")


_SPACES: Final = " \u00a0\u2009\u202f\ufffd"
_APOSTROPHES: Final = "'\u2019\ufffd"
_EXPONENT: Final = r"(?:[eE][+-]?[0-9]+)?"
_C_REAL: Final = r"[0-9]+\.[0-9]{6}"
_COMMA_DECIMALS: Final = r"(?:,(?:[0-9]{1,2}|[0-9]{4,}))?"


def _grouped(separators: str) -> str:
    return rf"[1-9][0-9]{{0,2}}(?:[{separators}][0-9]{{3}})+"


def _pattern(grouped: str, decimals: str) -> re.Pattern[str]:
    return re.compile(rf"-?(?:(?:{grouped}|[0-9]+){decimals}|{_C_REAL})")


_POINT_DECIMALS: Final = rf"(?:\.[0-9]+)?{_EXPONENT}"
_PATTERNS: Final = {
    Style.PLAIN: re.compile(rf"-?[0-9]+{_POINT_DECIMALS}"),
    Style.COMMA: _pattern(_grouped(","), _POINT_DECIMALS),
    Style.DOT: _pattern(_grouped("."), _COMMA_DECIMALS),
    Style.SPACE: _pattern(_grouped(_SPACES), _COMMA_DECIMALS),
    Style.APOSTROPHE: _pattern(_grouped(_APOSTROPHES), _POINT_DECIMALS),
    Style.INDIAN: _pattern(r"[1-9][0-9]?(?:,[0-9]{2})*,[0-9]{3}", _POINT_DECIMALS),
}
_COLUMNS: Final = {
    style: re.compile(rf"(?:(?:-?(?:{grouped}|[0-9]+){decimals})?(?:\n|\Z))*")
    for style, grouped, decimals in (
        (Style.COMMA, _grouped(","), _POINT_DECIMALS),
        (Style.DOT, _grouped("."), _COMMA_DECIMALS),
        (Style.SPACE, _grouped(_SPACES), _COMMA_DECIMALS),
        (Style.APOSTROPHE, _grouped(_APOSTROPHES), _POINT_DECIMALS),
    )
}
"""Columns of numbers in the notations where all of them can be rewritten at once."""
_REMOVED: Final = {
    Style.PLAIN: "",
    Style.COMMA: ",",
    Style.DOT: ".",
    Style.SPACE: _SPACES,
    Style.APOSTROPHE: _APOSTROPHES,
    Style.INDIAN: ",",
}
_DECIMAL_COMMA: Final = frozenset({Style.DOT, Style.SPACE})
_TABLES: Final = {
    style: str.maketrans({**dict.fromkeys(removed), **({",": "."} if style in _DECIMAL_COMMA else {})})
    for style, removed in _REMOVED.items()
}
_COUNT: Final = re.compile(rf"[0-9]+|[1-9][0-9]{{0,2}}(?:[.,'\u2019{_SPACES}](?:[0-9]{{2}}[.,])*[0-9]{{3}})+")
_C_ONLY: Final = re.compile(f"-?{_C_REAL}")
_PLAIN_COLUMN: Final = re.compile(r"(?:-?[0-9]+(?:\.[0-9]+)?(?:\n|\Z))*")
_UNSUPPORTED: Final = frozenset({"n/a", "(!) n/a"})
_FAILED: Final = frozenset({"nan", "-nan", "(!) nan", "inf", "-inf", "(!) inf", "no data", "-"})


def read_number(text: str, style: Style) -> float | None:
    """The number a text is in this notation, None when it is none.

    >>> read_number("1.916,45", Style.DOT)
    1916.45
    """
    plain = plain_number(text, style)
    number = inf if plain is None else float(plain)
    return number if isfinite(number) else None


def plain_number(text: str, style: Style) -> str | None:
    """The digits of a number in C notation, None when the text is no number in this notation.

    >>> plain_number("9.007.199.254.740.993", Style.DOT)
    '9007199254740993'
    """
    if _PATTERNS[style].fullmatch(text) is None:
        return None
    return text if _C_ONLY.fullmatch(text) else text.translate(_TABLES[style])


def read_count(text: str) -> int | None:
    """A whole number in any notation, for cells that can be nothing else; None for other texts.

    >>> read_count("1.138"), read_count("12,34,567"), read_count("3.5")
    (1138, 1234567, None)
    """
    text = text.strip()
    if _COUNT.fullmatch(text) is None:
        return None
    return int(re.sub(r"[^0-9]", "", text))


def plain_numbers(cells: Sequence[str], style: Style) -> list[str]:
    """A column with its numbers in C notation; cells that are no number in this notation stay as they are."""
    joined = "\n".join(cells)
    if style in _COLUMNS and joined.count("\n") == len(cells) - 1 and _COLUMNS[style].fullmatch(joined):
        return joined.translate(_TABLES[style]).split("\n")
    return [cell if (plain := plain_number(cell, style)) is None else plain for cell in cells]


def parse_number(text: str, style: Style) -> float | Missing:
    """A cell's number, or why there is none.

    Nothing is repaired: ``32,1,1`` and ``NA`` are ``UNPARSABLE``, never 3211 or not-a-number.
    """
    text = text.strip()
    number = read_number(text, style)
    if number is not None:
        return number
    if not text:
        return Missing.EMPTY
    word = text.lower()
    if word in _UNSUPPORTED:
        return Missing.UNSUPPORTED
    return Missing.FAILED if word in _FAILED else Missing.UNPARSABLE


def parse_numbers(cells: Sequence[str | None], style: Style) -> tuple[Floats, Codes]:
    """Numbers of a column, NaN where there is none, with ``Missing`` codes.

    A cell with instances, ``17,664 (0; 0; 3)``, counts as its leading aggregate; None is ``ABSENT``.
    """
    codes = np.zeros(len(cells), dtype=np.uint8)
    plain = _plain_column(cells, style)
    if plain is not None:
        return plain, codes
    values = np.full(len(cells), np.nan)
    known: dict[str, float | Missing] = {}
    for place, cell in enumerate(cells):
        if cell is None:
            codes[place] = Missing.ABSENT
            continue
        number = known.get(cell)
        if number is None:
            number = known[cell] = parse_number(leading_aggregate(cell), style)
        if isinstance(number, Missing):
            codes[place] = number
        else:
            values[place] = number
    return values, codes


def _plain_column(cells: Sequence[str | None], style: Style) -> Floats | None:
    """Columns of digits and decimal points need no look at each cell."""
    if style in _DECIMAL_COMMA:
        return None
    try:
        plain = _PLAIN_COLUMN.fullmatch("\n".join(cells))  # type: ignore[arg-type]
        values = np.fromiter(map(float, cells), np.float64, len(cells)) if plain else None  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a cell is None, or holds a line end
        return None
    return values if values is not None and np.isfinite(values).all() else None


def leading_aggregate(text: str) -> str:
    """The value in front of a metric's instances: ``17,664`` of ``17,664 (0; 0; 3)``, "" when only those are there.

    ncu 2019 printed bare instances, ``32.00; 4.00``: how they combine is the metric's business, so nothing is left.
    """
    if text.endswith(")") and not text.startswith("(!)"):
        return text.partition("(")[0].rstrip()
    return "" if ";" in text else text


def decide_style(cells: Iterable[str]) -> Style:
    """The notation of a table, from all of its number cells.

    A notation is possible when it can read every cell that is a number in any notation. Where the possible ones read a
    cell differently (a table of nothing but ``1.024`` and small integers), nobody can know.

    Raises:
        AmbiguousNumbers: two notations are possible, or explain different cells, and read one differently.
    """
    telling = {text for cell in cells if (text := _telling(leading_aggregate(cell.strip())))}
    possible = [style for style in Style if all(_PATTERNS[style].fullmatch(text) for text in telling)]
    if not possible:
        possible = _best(telling)
    for text in sorted(telling):
        _check(text, possible)
    return possible[0]


def _telling(text: str) -> str:
    """The text when it can say something about the notation, else ""."""
    if text.isdigit() or _C_ONLY.fullmatch(text):
        return ""
    return text if any(pattern.fullmatch(text) for pattern in _PATTERNS.values()) else ""


def _best(telling: Collection[str]) -> list[Style]:
    """The notations left when cells contradict each other: those that read most of them.

    A single damaged cell must not cost the table, but a notation that alone explains some cells stays in the race.
    """
    read = {style: {text for text in telling if _PATTERNS[style].fullmatch(text)} for style in Style}
    most = max(len(texts) for texts in read.values())
    best = next(style for style in Style if len(read[style]) == most)
    return [best, *(style for style in Style if read[style] - read[best])]


def _check(text: str, possible: Sequence[Style]) -> None:
    readings = {style: value for style in possible if (value := read_number(text, style)) is not None}
    if len(set(readings.values())) > 1:
        first = next(iter(readings.items()))
        raise AmbiguousNumbers(text, dict([first, next(item for item in readings.items() if item[1] != first[1])]))
