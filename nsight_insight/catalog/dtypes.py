"""Element types and GPU generations as kernel names write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SOURCES: Final = frozenset({"~first", "~float", "~operand", "~param"})
_FLOATS: Final = ("fp", "bf", "complex")
_LAMBDA = re.compile(r"\{lambda\(([^(){}]+)\)#")
_PARAMETERS = re.compile(r"\(([^()]*)\)$")
_POINTER = re.compile(r"([A-Za-z_][\w ]*)\*")


class Resolver:
    """Turns the candidates of an entry of ``kernels.yaml`` into a type or compute capability.

    A candidate is ``$group`` (what a named group matched, looked up; groups that begin with ``l_`` hold
    code letters), ``~first`` (first element type in the name), ``~float`` (first floating one), ``~operand``
    (element type of a lambda, else of the functor), ``~param`` (first pointer parameter), or the value itself.
    """

    def __init__(self, dtypes: Mapping[str, str], letters: Mapping[str, str], arch: Mapping[str, float]) -> None:
        self.dtypes, self.letters, self.archs = dtypes, letters, arch
        words = "|".join(re.escape(word) for word in sorted(dtypes, key=len, reverse=True))
        self.types = re.compile(rf"(?<![\w.])(?:{words})(?!\w)")
        self.functor = re.compile(rf"\w<(?:bool, )?({words})(?![\w*])")
        self.sources: dict[str, Callable[[str], str]] = {
            "~first": self._first, "~float": self._first_float, "~operand": self._operand, "~param": self._parameter,
        }  # fmt: skip

    def dtype(self, candidates: Sequence[str], found: re.Match[str], name: str) -> str:
        """The first candidate that gives a type for a normalised name, "" when none does."""
        for candidate in candidates:
            if value := self._dtype(candidate, found, name):
                return value
        return ""

    def _dtype(self, candidate: str, found: re.Match[str], name: str) -> str:
        if candidate in self.sources:
            return self.sources[candidate](name)
        if not candidate.startswith("$"):
            return candidate
        table = self.letters if candidate.startswith("$l_") else self.dtypes
        return table.get((found[candidate[1:]] or "").strip(" *&"), "")

    def arch(self, candidates: Sequence[str], found: re.Match[str]) -> float:
        """Compute capability such as 9.0; 0.0 when the name proves none."""
        for candidate in candidates:
            if not candidate.startswith("$"):
                return float(candidate)
            if value := self.archs.get(found[candidate[1:]] or ""):
                return float(value)
        return 0.0

    def _first(self, name: str) -> str:
        found = self.types.search(name)
        return self.dtypes[found[0]] if found else ""

    def _first_float(self, name: str) -> str:
        types = (self.dtypes[found[0]] for found in self.types.finditer(name))
        return next((dtype for dtype in types if dtype.startswith(_FLOATS)), "")

    def _operand(self, name: str) -> str:
        """Whatever comes first: a functor's type argument, or a lambda's first parameter that is no mask."""
        start = name.find("<") + 1
        functor = self.functor.search(name, start)
        for found in _LAMBDA.finditer(name, start, functor.start() if functor else len(name)):
            types = [self.dtypes.get(text.strip(" &"), "") for text in found[1].split(",")]
            if known := [dtype for dtype in types if dtype]:
                return next((dtype for dtype in known if dtype != "bool"), "bool")
        return self.dtypes[functor[1]] if functor else ""

    def _parameter(self, name: str) -> str:
        found = _PARAMETERS.search(name)
        pointer = _POINTER.search(found[1]) if found else None
        return self.dtypes.get(pointer[1].strip(), "") if pointer else ""
