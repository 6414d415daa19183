"""The structure of a C++ kernel name: scopes, template arguments, parameter lists, lambdas.

Everything here is linear in the length of the name: one pass of piece rewriting, one pass of bracket
matching. Names that were cut, or whose brackets do not match, still give a tree.
"""

from __future__ import annotations

import re
from typing import Final

MAX_LENGTH: Final = 16_384
"""Characters of a name that are looked at; the longest real one seen has 4,889."""
_MAX_DEPTH: Final = 48

_OPEN: Final = {"<": ">", "(": ")", "{": "}"}
_CLOSE: Final = frozenset(_OPEN.values())
_TOKEN = re.compile(r"[<>(){},]|[^<>(){},]+")
_SUFFIXED: Final = tuple(f"{digit}{suffix}" for digit in range(10) for suffix in "uUlL")
_WORDS: Final = (("::operator ()", ""), ("::operator()", ""), ("_3clocals_3e::", ""), ("->", "."))
_NOISE: Final = tuple(
    (hints, re.compile(pattern), replacement)
    for hints, pattern, replacement in (
        (("unnamed", "anonymous"), r"<unnamed>::|[({]anonymous(?: namespace)?[)}]::|(?<![\w<])unnamed>::", ""),
        (("_GLOBAL__N_", "_INTERNAL_", "_NV_ANON"), r"\b_(?:GLOBAL__N_|INTERNAL_|NV_ANON_NAMESPACE)\w*+(?:::)?", ""),
        (("CUB_", "THRUST_", "::__", "_V2"), r"\b(?:(?:CUB|THRUST)_\w++|__\d++|__cxx11|_V2)::", ""),
        (("operator",), r"\boperator ?(?:\( ?\)|<=>|\.\*?|<<=?|>>=?|[<>]=?)", "operator_"),
        (("[abi:", "[v"), r"\[(?:abi:)?v\d++,[^\]]*+\]?|\[abi:[^\]]*+\]?", ""),
        (("(instance",), r"\[?\blambda\(([^\[\]]{0,400}?)\) \(instance (\d{1,6})\)\]", r"{lambda(\1)#\2}"),
        (("[lambda(",), r"\[lambda\([^\[\]]{0,400}$", "\u2026"),
        (("const", "volatile", "__restrict"), r"\b(?:const|volatile|__restrict__|__restrict)\b", ""),
        ((")-", *(f"){digit}" for digit in range(10))), r"\([A-Za-z_][\w: ]*+\)(?=-?\d)", ""),
        (("=",), r"(?<=[<, ])[A-Za-z_][\w:]*+(?: [a-z]++){0,3}+=(?=-?\d)", ""),
        (_SUFFIXED, r"(?<![\w.])(-?\d++)[uUlL]{1,3}\b", r"\1"),
        (("true", "false"), r"\b(?:(t)rue|false)\b", lambda found: "1" if found[1] else "0"),
        (("  ", " *", " &", " ,", " )", " >", "( ", "< "), r" ++(?=[*&,)> ])|(?<=[(<]) ++", ""),
    )
)
"""Dialects to one, each with texts of which a name must hold one for it to apply: anonymous and versioned
namespaces, operators, ABI tags, ``[lambda(T) (instance n)]``, qualifiers, ``(int)4`` and ``int=4`` and
``4ul``, booleans, spaces."""

_QUALIFIER = re.compile(r"(?<![\w>)}])(?:[A-Za-z_]\w*+::)+(?!$)")
"""Scopes in front of a name; the last one of ``owner::`` is the name itself: a lambda follows."""


class Part:
    """A piece of text (``kind`` "") or a bracketed group with comma-separated items."""

    __slots__ = ("items", "kind", "text")

    def __init__(self, kind: str, text: str = "") -> None:
        self.kind = kind
        self.text = text
        self.items: list[list[Part]] = [[]] if kind else []


Sequence = list[Part]


def printable(name: str) -> str:
    """The beginning of the name, control, format and other invisible characters as blanks."""
    name = name[:MAX_LENGTH]
    if not name.isprintable():
        name = "".join(char if char.isprintable() else " " for char in name)
    return name.strip()


def clean(name: str) -> str:
    """A printable name in one dialect, brackets still unmatched."""
    for word, replacement in _WORDS:
        name = name.replace(word, replacement)
    for hints, pattern, substitute in _NOISE:
        for hint in hints:
            if hint in name:
                name = pattern.sub(substitute, name)
                break
    return name.strip()


def parse(name: str) -> Sequence:
    """Bracket matching of a cleaned name; unmatched brackets become text."""
    root = Part("(")
    stack = [root]
    ignored = 0
    for piece in _TOKEN.findall(name):
        top = stack[-1]
        if piece in _OPEN:
            if len(stack) > _MAX_DEPTH:
                ignored += 1
            else:
                stack.append(Part(piece))
                top.items[-1].append(stack[-1])
        elif piece in _CLOSE:
            if ignored:
                ignored -= 1
            else:
                _close(stack, piece)
        elif piece == "," and top is not root:
            top.items.append([])
        else:
            _append(top, piece)
    return root.items[0]


def _append(top: Part, text: str) -> None:
    last = top.items[-1]
    if last and not last[-1].kind:
        last[-1].text += text
    else:
        last.append(Part("", text))


def _close(stack: list[Part], piece: str) -> None:
    """Close the innermost group that ``piece`` ends; a ``<`` in between was a comparison."""
    depth = len(stack) - 1
    while depth and _OPEN[stack[depth].kind] != piece:
        depth -= 1
    if not depth or (piece == ">" and depth != len(stack) - 1):
        _append(stack[-1], piece)
    else:
        del stack[depth:]


def split_function(parts: Sequence) -> tuple[Sequence, Part | None]:
    """The function's name with its template arguments, and its parameter list; the return type is dropped."""
    params: Part | None = None
    for index in range(len(parts) - 1, max(len(parts) - 3, -1), -1):
        if parts[index].kind == "(" and index and not "".join(p.text for p in parts[index + 1 :]).strip(" .[]"):
            params, parts = parts[index], parts[:index]
            break
    for index in range(len(parts) - 1, -1, -1):
        text = parts[index].text.rstrip() if index == len(parts) - 1 else parts[index].text
        if parts[index].kind == "" and " " in text and (params or text.startswith("void ")):
            rest = text.rsplit(" ", 1)[1] if params else text[5:]
            return [Part("", rest.lstrip("*&")), *parts[index + 1 :]], params
    return parts, params


def unscoped(text: str) -> str:
    """The text without the scopes in front of names."""
    return _QUALIFIER.sub("", text)


def local_scope(item: Sequence) -> Sequence:
    """A function-local lambda reduced to its owner and itself.

    ``outer(params)::{lambda()#3}()::{lambda(float)#1}`` becomes ``outer::{lambda(float)#1}``: what
    lies between only says which branch of a type dispatch it is.
    """
    lambdas = [index for index, part in enumerate(item) if part.kind == "{"]
    if not lambdas:
        return item
    owner = item[: lambdas[0]]
    if owner and owner[0].kind == "":
        owner = [Part("", owner[0].text.lstrip().removeprefix("void ")), *owner[1:]]
    kept = [part for part in owner if part.kind != "("]
    return [*kept, *item[lambdas[-1] :]]


def render(parts: Sequence) -> str:
    """The text of a sequence; scopes in front of names are left out."""
    return "".join(_render(part) for part in local_scope(parts))


def _render(part: Part) -> str:
    if not part.kind:
        return unscoped(part.text)
    inner = ", ".join(render(item).strip() for item in part.items)
    return f"{part.kind}{inner}{_OPEN[part.kind]}"
