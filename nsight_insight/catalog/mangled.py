"""Itanium C++ ABI names (``_Z...``) back to readable ones, for kernel names.

Only what kernel names need: nested and local names, lambdas, template arguments, substitutions, builtin
and compound types, literals and the expressions that occur in template arguments. A template function's
return and parameter types are not read: its arguments say more.

Why not a library: the pure-Python ``itanium-demangler`` 1.1 has no local names and no lambdas, which are
57 % of the kernels of real PyTorch captures; ``__cxa_demangle`` (``cxxfilt``, LLVM) writes 570 MB for a
hostile name of 250 characters and cannot be stopped. Here a budget bounds the text that a name may
expand to. Grammar: Itanium C++ ABI, section 5.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_BUDGET: Final = 200_000
"""Characters all substitutions of one name may add up to; real names stay below 30,000."""
_DEPTH: Final = 100
"""Nesting of one name; a level costs at most five Python frames."""

_BUILTIN: Final = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
    "e": "long double", "g": "__float128", "z": "...",
    "Dh": "__half", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t", "Da": "auto", "Dn": "std::nullptr_t",
}  # fmt: skip
_STD: Final = {
    "t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream",
    "o": "std::ostream", "d": "std::iostream",
}  # fmt: skip
_OPERATORS: Final = {
    "nw": "new", "dl": "delete", "ps": "+", "ng": "-", "ad": "&", "de": "*", "co": "~", "pl": "+", "mi": "-",
    "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=", "pL": "+=", "mI": "-=", "eq": "==",
    "ne": "!=", "lt": "_lt", "gt": "_gt", "le": "_le", "ge": "_ge", "ls": "_shl", "rs": "_shr", "nt": "!", "aa": "&&",
    "oo": "||", "pp": "++", "mm": "--", "cl": "()", "ix": "[]",
}  # fmt: skip
_UNARY: Final = frozenset({"ps", "ng", "ad", "de", "co", "nt"})
_SEQUENCE = re.compile(r"([0-9A-Z]*)_")
_NUMBER = re.compile(r"(\d*)_")
_LENGTH = re.compile(r"[1-9]\d{0,4}")
_LITERAL = re.compile(r"(n?)([0-9a-f]*)E")


class MangledError(ValueError):
    """The name is not Itanium-mangled, uses a construct that kernel names do not have, or is hostile."""


def demangle_itanium(name: str) -> str:
    """``scope::function<arguments>`` for templates, ``function(parameters)`` otherwise.

    Lambdas are ``{lambda(float)#1}``, template values plain numbers, ``const`` and ``volatile`` are left out.

    Raises:
        MangledError: when the name cannot be read.
    """
    try:
        return _Reader(name.lstrip("_")).mangled()
    except (IndexError, RecursionError) as error:
        raise MangledError(name[:80]) from error


class _Reader:
    """One pass over the text after the leading underscores; methods are named after the ABI's grammar."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.made, self.depth = text, 0, 0, 0
        self.known: list[str] = []

    def mangled(self) -> str:
        self.expect("Z")
        return self.encoding(top=True)

    # --- helpers -----------------------------------------------------------------------------------

    def fail(self) -> MangledError:
        return MangledError(f"{self.text[self.at : self.at + 20]!r} at {self.at}")

    def peek(self, token: str) -> bool:
        return self.text.startswith(token, self.at)

    def take(self, token: str) -> bool:
        if found := self.peek(token):
            self.at += len(token)
        return found

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise self.fail()

    def read(self, pattern: re.Pattern[str]) -> re.Match[str]:
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
        self.made += len(text)
        if self.made > _BUDGET:
            raise self.fail()
        return text

    def until(self, end: str, item: Callable[[], str]) -> list[str]:
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.fail()
        items = []
        while not self.take(end):
            items.append(item())
        self.depth -= 1
        self.spend("".join(items))
        return items

    # --- names -------------------------------------------------------------------------------------

    def encoding(self, *, top: bool = False) -> str:
        """A function (or variable) with its types; ``top`` stops where nothing of interest follows."""
        name = self.name()
        template = name.endswith(">")
        if top and template:
            return name
        try:
            types = self.types(top=top)
        except (MangledError, IndexError):
            if not top:
                raise
            return name
        if template:
            types = types[1:]
        return f"{name}({', '.join(types) if types != ['void'] else ''})" if types else name

    def types(self, *, top: bool) -> list[str]:
        types = []
        while self.at < len(self.text) and not self.peek("E") and not (top and self.text[self.at] in ".@"):
            types.append(self.type())
        return types

    def name(self) -> str:
        if self.take("N"):
            return self.nested()
        if self.take("Z"):
            return self.local()
        if self.peek("S") and not self.peek("St"):
            name = self.substitution()
            return name + self.arguments() if self.peek("I") else name
        name = "std::" + self.unqualified() if self.take("St") else self.unqualified()
        if self.peek("I"):
            name = self.add(name) + self.arguments()
        return name

    def nested(self) -> str:
        while self.text[self.at] in "KVrRO":
            self.at += 1
        name = ""
        while True:
            if self.peek("I"):
                name += self.arguments()
            elif self.peek("S"):
                name = self.substitution()
                if self.peek("E"):
                    raise self.fail()
                continue
            elif self.peek("T") and not name:
                name = self.parameter()
            else:
                self.take("L")
                name = f"{name}::{self.unqualified()}" if name else self.unqualified()
            if self.take("E"):
                return name
            self.add(name)

    def local(self) -> str:
        scope = self.encoding()
        self.expect("E")
        if self.take("s"):
            self.discriminator()
            return f"{scope}::literal"
        if self.take("d"):
            self.read(_NUMBER)
        name = f"{scope}::{self.name()}"
        self.discriminator()
        return self.spend(name)

    def discriminator(self) -> None:
        if self.take("__"):
            self.read(_NUMBER)
        elif self.peek("_") and self.text[self.at + 1 : self.at + 2].isdigit():
            self.at += 2

    def unqualified(self) -> str:
        if self.take("Ul"):
            return self.closure()
        if self.take("Ut"):
            return f"{{unnamed type#{self.ordinal()}}}"
        if self.text[self.at].isdigit():
            return self.source()
        if self.text[self.at] in "CD" and self.text[self.at + 1].isdigit():
            self.at += 2
            return "{ctor}"
        code = self.text[self.at : self.at + 2]
        self.at += 2
        if code == "cv":
            return f"operator {self.type()}"
        if code not in _OPERATORS:
            raise self.fail()
        return f"operator{_OPERATORS[code]}"

    def closure(self) -> str:
        types = self.until("E", self.type)
        return f"{{lambda({', '.join(types) if types != ['void'] else ''})#{self.ordinal()}}}"

    def ordinal(self) -> int:
        digits = self.read(_NUMBER)[1]
        return int(digits) + 2 if digits else 1

    def source(self) -> str:
        length = int(self.read(_LENGTH)[0])
        name = self.text[self.at : self.at + length]
        if len(name) < length:
            raise self.fail()
        self.at += length
        while self.take("B"):
            self.source()
        return name

    def substitution(self) -> str:
        self.expect("S")
        if (letter := self.text[self.at]) in _STD:
            self.at += 1
            if letter == "t":
                return self.add(f"std::{self.unqualified()}")
            return _STD[letter]
        digits = self.read(_SEQUENCE)[1]
        return self.spend(self.known[int(digits, 36) + 1 if digits else 0])

    def parameter(self) -> str:
        self.expect("T")
        return f"T{self.read(_NUMBER)[1]}"

    # --- template arguments ------------------------------------------------------------------------

    def arguments(self) -> str:
        self.expect("I")
        return self.spend(f"<{', '.join(filter(None, self.until('E', self.argument)))}>")

    def argument(self) -> str:
        if self.take("J"):
            return ", ".join(self.until("E", self.argument))
        if self.take("X"):
            value = self.expression()
            self.expect("E")
            return value
        return self.literal() if self.peek("L") else self.type()

    def literal(self) -> str:
        self.expect("L")
        if self.take("_Z") or self.take("Z"):
            value = self.name()
            self.types(top=False)
            self.expect("E")
            return value
        self.type()
        sign, digits = self.read(_LITERAL).groups()
        return ("-" if sign else "") + digits

    def expression(self) -> str:
        if self.peek("L"):
            return self.literal()
        if self.peek("T"):
            return self.parameter()
        code = self.text[self.at : self.at + 2]
        if code in ("sr", "st", "sZ", "sp"):
            return self.special_expression(code)
        self.at += 2
        if code == "cl":
            return f"call({', '.join(self.until('E', self.expression))})"
        if code == "cv":
            self.type()
            return self.expression()
        if code not in _OPERATORS:
            raise self.fail()
        left = self.expression()
        if code in _UNARY:
            return _OPERATORS[code] + left
        return self.spend(f"{left}{_OPERATORS[code]}{self.expression()}")

    def special_expression(self, code: str) -> str:
        self.at += 2
        if code == "sr":
            name = f"{self.type()}::{self.unqualified()}"
            return name + self.arguments() if self.peek("I") else name
        if code == "st":
            return f"sizeof({self.type()})"
        return f"sizeof...({self.parameter()})" if code == "sZ" else self.expression()

    # --- types -------------------------------------------------------------------------------------

    def type(self) -> str:
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.fail()
        name = self.compound()
        self.depth -= 1
        return name

    def compound(self) -> str:
        for code in (self.text[self.at], self.text[self.at : self.at + 2]):
            if code in _BUILTIN:
                self.at += len(code)
                return _BUILTIN[code]
        letter = self.text[self.at]
        if letter in "KVr":
            self.at += 1
            return self.add(self.type())
        if letter in "PRO":
            self.at += 1
            return self.add(self.type() + {"P": "*", "R": "&", "O": "&&"}[letter])
        if letter == "T":
            name = self.add(self.parameter())
            return self.add(name + self.arguments()) if self.peek("I") else name
        if letter == "S" and not self.peek("St"):
            name = self.substitution()
            return self.add(name + self.arguments()) if self.peek("I") else name
        if letter in "DFAMCGu":
            return self.rare()
        return self.add(self.name())

    def rare(self) -> str:
        letter = self.text[self.at]
        self.at += 1
        if letter == "u":
            return self.add(self.source())
        if letter == "F":
            result, *types = self.until("E", self.type)
            return self.add(f"{result} ({', '.join(types)})")
        if letter == "A":
            size = self.read(_NUMBER)[1]
            return self.add(f"{self.type()} [{size}]")
        if letter == "M":
            owner = self.type()
            return self.add(f"{self.type()} {owner}::*")
        if letter in "CG":
            return self.add(f"{self.type()} complex")
        return self.extended()

    def extended(self) -> str:
        if self.take("p"):
            return self.add(self.type())
        if self.take("F16b_"):
            return "__bf16"
        if self.take("F16_"):
            return "__half"
        if self.take("t") or self.take("T"):
            value = self.expression()
            self.expect("E")
            return self.add(f"decltype({value})")
        raise self.fail()
