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

from nsight_insight.catalog.itanium import BUILTIN, DEPTH, OPERATORS, STD, UNARY, Cursor, MangledError

_SEQUENCE = re.compile(r"([0-9A-Z]{0,5})_")
_NUMBER = re.compile(r"([0-9]{0,6})_")
_LENGTH = re.compile(r"[1-9][0-9]{0,4}")
_LITERAL = re.compile(r"(n?)([0-9a-f]{0,40})E")


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


class _Reader(Cursor):
    """One pass over the text after the leading underscores; methods are named after the ABI's grammar."""

    def mangled(self) -> str:
        self.expect("Z")
        return self.encoding(top=True)

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
        if code not in OPERATORS:
            raise self.fail()
        return f"operator{OPERATORS[code]}"

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
        if (letter := self.text[self.at]) in STD:
            self.at += 1
            if letter == "t":
                return self.add(f"std::{self.unqualified()}")
            return STD[letter]
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
        if code not in OPERATORS:
            raise self.fail()
        left = self.expression()
        if code in UNARY:
            return OPERATORS[code] + left
        return self.spend(f"{left}{OPERATORS[code]}{self.expression()}")

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
        if self.depth > DEPTH:
            raise self.fail()
        name = self.compound()
        self.depth -= 1
        return name

    def compound(self) -> str:
        for code in (self.text[self.at], self.text[self.at : self.at + 2]):
            if code in BUILTIN:
                self.at += len(code)
                return BUILTIN[code]
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
