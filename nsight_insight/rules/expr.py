"""Rule expressions: a Python-looking subset, compiled from ``ast`` to vectorised three-valued functions.

Allowed: names, numbers, quoted texts, ``and or not``, (chained) comparisons, ``in`` with a list of
literals, ``+ - * /``, unary minus and the functions of ``FUNCTIONS``. Nothing else compiles: no
attribute, subscript, power, lambda, comprehension, call of anything else; at most 400 characters and
40 levels. Nothing is ever evaluated by Python itself.

Values are float64 arrays in SI units with NaN for unknown, or object arrays of text with None for
unknown; truth values are 1.0, 0.0 and NaN and combine as in Kleene's logic: ``unknown and false`` is
false, ``unknown or true`` is true.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.errors import RuleError
from nsight_insight.model.units import FRACTION, NUMBER, Dimension

MAX_LENGTH: Final = 400
MAX_DEPTH: Final = 40

Array = npt.NDArray[Any]
Scope = Mapping[str, Array]

FUNCTIONS: Final = ("min", "max", "abs", "coalesce", "has", "known", "matches", "ceil", "sqrt", "where", "fraction")


@dataclass(frozen=True)
class Type:
    """What an expression yields: ``number`` (with a dimension), ``text`` or ``truth``."""

    kind: str
    dimension: Dimension = NUMBER
    literal: float | None = None

    def __str__(self) -> str:
        return str(self.dimension) if self.kind == "number" else self.kind


TRUTH: Final = Type("truth")
TEXT: Final = Type("text")

Names = Mapping[str, Type]


@dataclass(frozen=True)
class Expression:
    """A compiled expression: call it with a scope of equally long arrays."""

    text: str
    type: Type
    names: frozenset[str]
    optional: frozenset[str]
    """Names only used inside ``coalesce``, ``has`` or ``known``: their absence alone is no gap."""
    _run: Callable[[Scope], Array]

    def __call__(self, scope: Scope) -> Array:
        """Evaluate; truth values come back as 1.0, 0.0 or NaN."""
        with np.errstate(all="ignore"):
            return self._run(scope)


def compile_expression(text: str, names: Names) -> Expression:
    """Compile and check ``text`` against the known ``names``.

    Raises:
        RuleError: not the subset, an unknown name, or dimensions that do not agree; ``column`` is the
            1-based column inside the expression.
    """
    if len(text) > MAX_LENGTH:
        raise RuleError(f"expression longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None) or 1
        raise RuleError(f"cannot parse expression {text!r}", column=column) from error
    compiler = _Compiler(names)
    type_, run = compiler.compile(tree.body, 0)
    return Expression(
        text,
        type_,
        frozenset(compiler.required | compiler.optional),
        frozenset(compiler.optional - compiler.required),
        run,
    )


Compiled = tuple[Type, Callable[[Scope], Array]]


class _Compiler:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.required: set[str] = set()
        self.optional: set[str] = set()
        self.lenient = 0

    def compile(self, node: ast.expr, depth: int) -> Compiled:
        if depth > MAX_DEPTH:
            raise _fault(node, f"nested deeper than {MAX_DEPTH}")
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise _fault(node, f"{type(node).__name__} is not allowed in an expression")
        compiled: Compiled = method(node, depth + 1)
        return compiled

    def _constant(self, node: ast.Constant, _depth: int) -> Compiled:
        value = node.value
        if isinstance(value, bool):
            truth = np.array([1.0 if value else 0.0])
            return TRUTH, lambda _scope: truth
        if isinstance(value, int | float) and abs(value) < 1e300:
            number = np.array([float(value)])
            return Type("number", NUMBER, float(value)), lambda _scope: number
        if isinstance(value, str):
            text = np.array([value], dtype=object)
            return TEXT, lambda _scope: text
        raise _fault(node, "only numbers, texts and True/False are allowed")

    def _name(self, node: ast.Name, _depth: int) -> Compiled:
        name = node.id
        if name not in self.names:
            raise _fault(node, f"unknown name {name!r}{_suggest(name, self.names)}")
        (self.optional if self.lenient else self.required).add(name)
        return self.names[name], lambda scope: scope[name]

    def _boolop(self, node: ast.BoolOp, depth: int) -> Compiled:
        parts = [self._truth(value, depth) for value in node.values]
        combine = kleene_and if isinstance(node.op, ast.And) else _or

        def run(scope: Scope) -> Array:
            result = parts[0](scope)
            for part in parts[1:]:
                result = combine(result, part(scope))
            return result

        return TRUTH, run

    def _unaryop(self, node: ast.UnaryOp, depth: int) -> Compiled:
        if isinstance(node.op, ast.Not):
            inner = self._truth(node.operand, depth)
            return TRUTH, lambda scope: 1.0 - inner(scope)
        if not isinstance(node.op, ast.USub | ast.UAdd):
            raise _fault(node, "only - and not are allowed here")
        type_, run = self._number(node.operand, depth)
        sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
        literal = None if type_.literal is None else sign * type_.literal
        return Type("number", type_.dimension, literal), lambda scope: sign * run(scope)

    def _binop(self, node: ast.BinOp, depth: int) -> Compiled:
        operation = _ARITHMETIC.get(type(node.op))
        if operation is None:
            raise _fault(node, f"operator {type(node.op).__name__} is not allowed")
        (left, run_left), (right, run_right) = self._number(node.left, depth), self._number(node.right, depth)
        dimension = self._combine(node, left, right)
        return Type("number", dimension), lambda scope: operation(run_left(scope), run_right(scope))

    @staticmethod
    def _combine(node: ast.BinOp, left: Type, right: Type) -> Dimension:
        if isinstance(node.op, ast.Mult):
            return left.dimension * right.dimension
        if isinstance(node.op, ast.Div):
            return left.dimension / right.dimension
        if not left.dimension.same_kind(right.dimension):
            raise _fault(node, f"cannot add or subtract {left} and {right}")
        fraction = _fraction_like(left) and _fraction_like(right)
        return FRACTION if fraction and left.dimension.plain else left.dimension

    def _compare(self, node: ast.Compare, depth: int) -> Compiled:
        operands = [node.left, *node.comparators]
        steps: list[Callable[[Scope], Array]] = []
        for position, operator in enumerate(node.ops):
            steps.append(self._comparison(node, operator, operands[position], operands[position + 1], depth))

        def run(scope: Scope) -> Array:
            result = steps[0](scope)
            for step in steps[1:]:
                result = kleene_and(result, step(scope))
            return result

        return TRUTH, run

    def _comparison(
        self, node: ast.Compare, operator: ast.cmpop, left: ast.expr, right: ast.expr, depth: int
    ) -> Callable[[Scope], Array]:
        if isinstance(operator, ast.In | ast.NotIn):
            return self._membership(left, right, depth, isinstance(operator, ast.NotIn))
        (left_type, run_left), (right_type, run_right) = self.compile(left, depth), self.compile(right, depth)
        _check_comparable(node, left_type, right_type)
        if left_type.kind == "text":
            if not isinstance(operator, ast.Eq | ast.NotEq):
                raise _fault(node, "texts can only be compared with ==, != and in")
            negate = isinstance(operator, ast.NotEq)
            return lambda scope: _equal_text(run_left(scope), run_right(scope), negate)
        compare = _COMPARISON.get(type(operator))
        if compare is None:
            raise _fault(node, f"comparison {type(operator).__name__} is not allowed")
        return lambda scope: _three_valued(compare, run_left(scope), run_right(scope))

    def _membership(self, left: ast.expr, right: ast.expr, depth: int, negate: bool) -> Callable[[Scope], Array]:
        type_, run = self.compile(left, depth)
        if not isinstance(right, ast.List | ast.Tuple) or not all(isinstance(e, ast.Constant) for e in right.elts):
            raise _fault(right, "`in` needs a list of literals")
        values = [e.value for e in right.elts if isinstance(e, ast.Constant)]
        if type_.kind != "text" or not all(isinstance(value, str) for value in values):
            raise _fault(left, "`in` compares a text with a list of texts")
        wanted = frozenset(values)

        def contains(scope: Scope) -> Array:
            found = [np.nan if v is None else float((v in wanted) != negate) for v in run(scope)]
            return np.array(found, dtype=float)

        return contains

    def _call(self, node: ast.Call, depth: int) -> Compiled:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS or node.keywords:
            raise _fault(node, f"only these functions can be called: {', '.join(FUNCTIONS)}")
        handler: Callable[[ast.Call, int], Compiled] = getattr(self, f"_call_{node.func.id}", self._call_numeric)
        return handler(node, depth)

    def _call_numeric(self, node: ast.Call, depth: int) -> Compiled:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        limits = {
            "min": (2, 16),
            "max": (2, 16),
            "abs": (1, 1),
            "ceil": (1, 1),
            "sqrt": (1, 1),
            "coalesce": (2, 8),
        }
        least, most = limits[name]
        if not least <= len(node.args) <= most:
            raise _fault(node, f"{name}() takes {least} to {most} arguments")
        self.lenient += name == "coalesce"
        parts = [self._number(argument, depth) for argument in node.args]
        self.lenient -= name == "coalesce"
        first = next((type_ for type_, _ in parts if type_.literal != 0.0), parts[0][0])
        for type_, _ in parts:
            if type_.literal != 0.0 and not first.dimension.same_kind(type_.dimension):
                raise _fault(node, f"arguments of {name}() differ: {first} and {type_}")
        runs = [run for _, run in parts]
        function = _NUMERIC[name]
        if name in ("ceil", "sqrt") and not first.dimension.plain:
            raise _fault(node, f"{name}() needs a plain number, not {first}")
        fraction = first.dimension.plain and all(_fraction_like(type_) for type_, _ in parts)
        return Type("number", FRACTION if fraction else first.dimension), lambda scope: function(
            [run(scope) for run in runs]
        )

    def _call_has(self, node: ast.Call, depth: int) -> Compiled:
        self.lenient += 1
        _, run = self.compile(_only(node), depth)
        self.lenient -= 1
        return TRUTH, lambda scope: _present(run(scope))

    _call_known = _call_has

    def _call_matches(self, node: ast.Call, depth: int) -> Compiled:
        if len(node.args) != 2 or not isinstance(node.args[1], ast.Constant) or not isinstance(node.args[1].value, str):
            raise _fault(node, 'matches() takes a text and a quoted part of it: matches(name, "splitK")')
        type_, run = self.compile(node.args[0], depth)
        if type_.kind != "text":
            raise _fault(node, "matches() needs a text")
        alternatives = node.args[1].value.lower().split("|")

        def search(scope: Scope) -> Array:
            found = [
                np.nan if v is None else float(any(part in str(v).lower() for part in alternatives)) for v in run(scope)
            ]
            return np.array(found, dtype=float)

        return TRUTH, search

    def _call_fraction(self, node: ast.Call, depth: int) -> Compiled:
        type_, run = self._number(_only(node), depth)
        if not type_.dimension.plain:
            raise _fault(node, f"fraction() needs a plain number such as a quotient of two times, not {type_}")
        return Type("number", FRACTION), run

    def _call_where(self, node: ast.Call, depth: int) -> Compiled:
        if len(node.args) != 3:
            raise _fault(node, "where() takes a condition and two numbers")
        condition = self._truth(node.args[0], depth)
        (yes, run_yes), (no, run_no) = self._number(node.args[1], depth), self._number(node.args[2], depth)
        if 0.0 not in (yes.literal, no.literal) and not yes.dimension.same_kind(no.dimension):
            raise _fault(node, f"where() mixes {yes} and {no}")
        fraction = _fraction_like(yes) and _fraction_like(no)
        dimension = no.dimension if yes.literal == 0.0 else yes.dimension

        def run(scope: Scope) -> Array:
            truth = condition(scope)
            chosen = np.where(truth == 1.0, run_yes(scope), run_no(scope))
            return np.where(np.isnan(truth), np.nan, chosen)

        return Type("number", FRACTION if fraction else dimension), run

    def _number(self, node: ast.expr, depth: int) -> Compiled:
        type_, run = self.compile(node, depth)
        if type_.kind != "number":
            raise _fault(node, f"a number is needed here, not a {type_.kind}")
        return type_, run

    def _truth(self, node: ast.expr, depth: int) -> Callable[[Scope], Array]:
        type_, run = self.compile(node, depth)
        if type_.kind != "truth":
            raise _fault(node, f"a condition is needed here, not a {type_}")
        return run


def _fault(node: ast.AST, text: str) -> RuleError:
    return RuleError(text, column=getattr(node, "col_offset", 0) + 1)


def _suggest(name: str, names: Names) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _only(node: ast.Call) -> ast.expr:
    if len(node.args) != 1:
        raise _fault(node, "takes exactly one argument")
    return node.args[0]


def _fraction_like(type_: Type) -> bool:
    if type_.literal is not None:
        return 0.0 <= type_.literal <= 1.0
    return type_.dimension.fraction


def _check_comparable(node: ast.Compare, left: Type, right: Type) -> None:
    if left.kind != right.kind or left.kind == "truth":
        raise _fault(node, f"cannot compare {left} with {right}")
    if left.kind != "number":
        return
    if not left.dimension.same_kind(right.dimension):
        zero = 0.0 in (left.literal, right.literal)
        if not zero:
            raise _fault(node, f"cannot compare {left} with {right}; give the number a unit in `params`")
    for one, other in ((left, right), (right, left)):
        if one.dimension.fraction and other.literal is not None and abs(other.literal) > 1.0:
            raise _fault(node, f"a fraction is compared with {other.literal:g}; 30 % is written 0.30")


def _known(*arrays: Array) -> Array:
    known: Array = ~np.isnan(arrays[0])
    for array in arrays[1:]:
        known = known & ~np.isnan(array)
    return known


def _three_valued(compare: Callable[[Array, Array], Array], left: Array, right: Array) -> Array:
    return np.where(_known(left, right), compare(left, right).astype(float), np.nan)


def _equal_text(left: Array, right: Array, negate: bool) -> Array:
    left, right = np.broadcast_arrays(left, right)
    pairs = zip(left, right, strict=True)
    return np.array([np.nan if a is None or b is None else float((a == b) != negate) for a, b in pairs], dtype=float)


def kleene_and(left: Array, right: Array) -> Array:
    """Kleene's ``and`` of truth arrays: false wins over unknown, unknown over true."""
    false = (left == 0.0) | (right == 0.0)
    return np.where(false, 0.0, np.where(_known(left, right), 1.0, np.nan))


def _or(left: Array, right: Array) -> Array:
    true = (left == 1.0) | (right == 1.0)
    return np.where(true, 1.0, np.where(_known(left, right), 0.0, np.nan))


def _present(values: Array) -> Array:
    if values.dtype == object:
        return np.array([float(v is not None) for v in values], dtype=float)
    return (~np.isnan(values)).astype(float)


def _divide(left: Array, right: Array) -> Array:
    return np.where(right == 0.0, np.nan, np.divide(left, np.where(right == 0.0, 1.0, right)))


def _fold(function: Callable[[Array, Array], Array]) -> Callable[[list[Array]], Array]:
    def run(values: list[Array]) -> Array:
        result = values[0]
        for value in values[1:]:
            result = function(result, value)
        return result

    return run


_ARITHMETIC: Final[Mapping[type, Callable[[Array, Array], Array]]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: _divide,
}
_COMPARISON: Final[Mapping[type, Callable[[Array, Array], Array]]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_NUMERIC: Final[Mapping[str, Callable[[list[Array]], Array]]] = {
    "min": _fold(np.minimum),
    "max": _fold(np.maximum),
    "abs": lambda values: np.abs(values[0]),
    "ceil": lambda values: np.ceil(values[0]),
    "sqrt": lambda values: np.sqrt(values[0]),
    "coalesce": _fold(lambda a, b: np.where(np.isnan(a), b, a)),
}
