"""Tables of the HTML report: texts for people, numbers to sort by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from markupsafe import Markup

FULL: int = 600
"""Characters of a whole kernel name that are kept for its tip."""


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        sort: number to sort by, None to sort by the text.
        code: a name, in a fixed-width font.
        tip: what a pointer or a screen reader gets beyond the text.
        picture: shown after the text.
    """

    text: str
    sort: float | None = None
    code: bool = False
    tip: str = ""
    picture: Markup | None = None


@dataclass(frozen=True)
class Table:
    """A table; ``numeric`` says which columns hold numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: frozenset[int] = field(default_factory=frozenset)
    foot: tuple[Cell, ...] = ()
    sortable: bool = False
    id: str = ""


def table(
    caption: str,
    head: str,
    rows: list[list[Cell]],
    *,
    foot: list[Cell] | None = None,
    sortable: bool = False,
    id: str = "",  # noqa: A002
) -> Table:
    """A table whose heading is ``name|name:|...``; a trailing ``:`` makes a column of numbers."""
    names = head.split("|")
    numeric = frozenset(place for place, name in enumerate(names) if name.endswith(":"))
    return Table(
        caption, tuple(name.rstrip(":") for name in names), tuple(map(tuple, rows)), numeric, tuple(foot or ()),
        sortable, id,
    )  # fmt: skip


def text(value: str) -> Cell:
    """A sentence or word, made harmless."""
    return Cell(fmt.flow(value))


def kernel(name: str, short: str) -> Cell:
    """A kernel's short name, with the whole one behind it."""
    whole = fmt.flow(name)
    return Cell(short, code=True, tip="" if whole == short else fmt.cut(whole, FULL))


def time(ns: float | None) -> Cell:
    """A time, "" where it is not known."""
    return Cell("") if ns is None else Cell(fmt.time(ns), ns)


def share(fraction: float | None) -> Cell:
    """A share, "" where it is not known."""
    return Cell("") if fraction is None else Cell(fmt.share(fraction), fraction)


def count(number: float | None) -> Cell:
    """A whole number, "" where it is not known."""
    return Cell("") if number is None else Cell(f"{number:,.0f}", float(number))
