"""Reading position, budget and code tables for Itanium-mangled names (see ``mangled.py``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

BUDGET: Final = 200_000
"""Characters all substitutions of one name may add up to; real names stay below 30,000."""
DEPTH: Final = 100
"""Nesting of one name; a level costs at most five Python frames."""

BUILTIN: Final = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
    "e": "long double", "g": "__float128", "z": "...",
    "Dh": "__half", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t", "Da": "auto", "Dn": "std::nullptr_t",
}  # fmt: skip
STD: Final = {
    "t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream",
    "o": "std::ostream", "d": "std::iostream",
}  # fmt: skip
OPERATORS: Final = {
    "nw": "new", "dl": "delete", "ps": "+", "ng": "-", "ad": "&", "de": "*", "co": "~", "pl": "+", "mi": "-",
    "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=", "pL": "+=", "mI": "-=", "eq": "==",
    "ne": "!=", "lt": "_lt", "gt": "_gt", "le": "_le", "ge": "_ge", "ls": "_shl", "rs": "_shr", "nt": "!", "aa": "&&",
    "oo": "||", "pp": "++", "mm": "--", "cl": "()", "ix": "[]",
}  # fmt: skip
UNARY: Final = frozenset({"ps", "ng", "ad", "de", "co", "nt"})


class MangledError(ValueError):
    """The name is not Itanium-mangled, uses a construct that kernel names do not have, or is hostile."""


class Cursor:
    """A position in a mangled name, the substitutions found so far, and what they have cost."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.made, self.depth = text, 0, 0, 0
        self.known: list[str] = []

    def fail(self) -> MangledError:
        """The error for this position."""
        return MangledError(f"{self.text[self.at : self.at + 20]!r} at {self.at}")

    def peek(self, token: str) -> bool:
        """Whether ``token`` comes next."""
        return self.text.startswith(token, self.at)

    def take(self, token: str) -> bool:
        """Step over ``token`` when it comes next."""
        if found := self.peek(token):
            self.at += len(token)
        return found

    def expect(self, token: str) -> None:
        """Step over ``token``, which must come next."""
        if not self.take(token):
            raise self.fail()

    def read(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Step over what ``pattern`` matches here, which must be something."""
        match = pattern.match(self.text, self.at)
        if match is None:
            raise self.fail()
        self.at = match.end()
        return match

    def add(self, name: str) -> str:
        """Make ``name`` a substitution candidate."""
        self.known.append(self.spend(name))
        return name

    def spend(self, text: str) -> str:
        """``text``, charged to the budget."""
        self.made += len(text)
        if self.made > BUDGET:
            raise self.fail()
        return text

    def until(self, end: str, item: Callable[[], str]) -> list[str]:
        """Items up to ``end``, which is stepped over."""
        self.depth += 1
        if self.depth > DEPTH:
            raise self.fail()
        items = []
        while not self.take(end):
            items.append(item())
        self.depth -= 1
        self.made += sum(map(len, items))
        return items
