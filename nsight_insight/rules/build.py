"""A rule file's data to a compiled ``Rule``; every fault with its line and column."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from nsight_insight.catalog.yamlio import Marks
from nsight_insight.errors import RuleError, RuleErrors
from nsight_insight.model.units import NUMBER, TIME, parse_unit
from nsight_insight.rules import vocabulary
from nsight_insight.rules.expr import Expression, Names, Type, compile_expression
from nsight_insight.rules.model import (
    CATEGORIES,
    RESOURCES,
    Clause,
    Doubt,
    Param,
    RemedyRule,
    Rule,
    RuleTest,
    SavingRule,
    Verify,
)
from nsight_insight.views.facts import SCOPES, TRACE

Path = tuple[str | int, ...]
_PLACEHOLDER: Final = re.compile(r"\{(\w+)(?::[\w -]+)?\}")
_APPLIES: Final = frozenset({"family", "dtype_in", "dtype_out", "tensor_core", "library", "tool", "cc"})
_CC: Final = re.compile(r"(?:(>=|<=)\s*)?(\d+\.\d)(?:\s*-\s*(\d+\.\d))?")
AGGREGATES: Final = {"kernels": Type("number", NUMBER), "expected": Type("number", TIME), "upper": Type("number", TIME)}
"""Names a message may use besides the expressions': how many kernels, and the finding's saving."""


def build_rule(data: Mapping[str, Any], marks: Marks, file: str, rule_id: str) -> Rule:
    """Compile a rule file's content.

    Raises:
        RuleErrors: every fault found, each with file, line and column.
    """
    builder = _Builder(data, marks, file, rule_id)
    rule = builder.build()
    if builder.errors or rule is None:
        raise RuleErrors(builder.errors)
    return rule


class _Builder:
    def __init__(self, data: Mapping[str, Any], marks: Marks, file: str, rule_id: str) -> None:
        self.data, self.marks, self.file, self.rule_id = data, marks, file, rule_id
        self.errors: list[RuleError] = []
        self.names: dict[str, Type] = {}

    def fault(self, path: Path, text: str, shift: int = 0) -> None:
        line, column = self.marks.at(path)
        dotted = ".".join(str(part) for part in path)
        self.errors.append(RuleError(text, file=self.file, line=line, column=column + shift, path=dotted))

    def build(self) -> Rule | None:
        scope, category = str(self.data.get("scope", "")), self.rule_id.split("/")[0]
        if scope not in SCOPES:
            self.fault(("scope",), f"scope must be one of {', '.join(SCOPES)}")
            return None
        if category not in CATEGORIES:
            self.fault((), f"folder {category!r} is not a category: {', '.join(CATEGORIES)}")
        if self.data.get("schema") != 1:
            self.fault(("schema",), "schema must be 1")
        self.names = dict(vocabulary.types(scope))
        params = self._params()
        lets = self._lets()
        when = self._when()
        saving = self._saving(self.data.get("saving"), ("saving",))
        doubts = self._doubts()
        remedies = self._remedies()
        applies, cc = self._applies()
        for key in ("message", "title", "why", "false_positives"):
            if not str(self.data.get(key, "")).strip():
                self.fault((key,), f"{key} is required")
        self._template(("message",), str(self.data.get("message", "")))
        if saving is None or self.errors:
            return None
        data = self.data
        return Rule(
            id=self.rule_id, file=self.file, category=category, title=str(data["title"]), since=str(data["since"]),
            status=data["status"], severity=data["severity"], confidence=data["confidence"], scope=scope,
            merge=bool(data.get("merge", False)), applies_to=applies, applies_cc=cc, params=params, let=lets, when=when,
            saving=saving, doubts=doubts, explains=tuple(data.get("explains", ())),
            message=_flow(data["message"]), why=_flow(data["why"]), remedies=remedies, verify=self._verify(),
            false_positives=_flow(data["false_positives"]), references=tuple(map(str, data.get("references", ()))),
            tests=self._tests(),
        )  # fmt: skip

    def _params(self) -> dict[str, Param]:
        params: dict[str, Param] = {}
        for name, entry in (self.data.get("params") or {}).items():
            path: Path = ("params", name)
            unit = parse_unit(str(entry.get("unit", "1")))
            if unit is None:
                self.fault((*path, "unit"), f"unknown unit {entry.get('unit')!r}")
                continue
            if name in self.names:
                self.fault(path, f"parameter {name!r} hides a fact of the same name")
            if unit.dimension.fraction and not 0.0 <= float(entry["value"]) * unit.scale <= 1.0:
                self.fault((*path, "value"), "a fraction lies between 0 and 1; 30 % is 0.30")
            params[name] = Param(float(entry["value"]) * unit.scale, str(entry.get("unit", "1")), str(entry["doc"]))
            self.names[name] = Type("number", unit.dimension)
        return params

    def _lets(self) -> dict[str, Expression]:
        lets: dict[str, Expression] = {}
        for name, text in (self.data.get("let") or {}).items():
            path: Path = ("let", name)
            if name in self.names:
                self.fault(path, f"{name!r} hides a fact or parameter of the same name")
            expression = self._compile(text, path)
            if expression is not None:
                lets[name] = expression
                self.names[name] = expression.type
        return lets

    def _compile(self, text: object, path: Path, want: Callable[[Type], str] | None = None,
                 names: Names | None = None) -> Expression | None:  # fmt: skip
        try:
            expression = compile_expression(str(text), names or self.names)
        except RuleError as error:
            self.fault(path, error.text, max(0, error.column - 1))
            return None
        complaint = want(expression.type) if want else ""
        if complaint:
            self.fault(path, complaint)
            return None
        return expression

    def _when(self) -> tuple[Clause, ...]:
        clauses = []
        for index, entry in enumerate(self.data.get("when") or []):
            path: Path = ("when", index, "if")
            condition = self._compile(entry.get("if", ""), path, _want_truth)
            self._template(("when", index, "say"), str(entry.get("say", "")))
            if condition is not None:
                clauses.append(Clause(str(entry["id"]), _flow(entry.get("say", "")), condition))
        if not clauses and not self.errors:
            self.fault(("when",), "at least one condition is required")
        return tuple(clauses)

    def _doubts(self) -> tuple[Doubt, ...]:
        doubts = []
        for index, entry in enumerate(self.data.get("doubt") or []):
            condition = self._compile(entry.get("if", ""), ("doubt", index, "if"), _want_truth)
            if condition is not None:
                doubts.append(Doubt(condition, _flow(entry.get("say", ""))))
        return tuple(doubts)

    def _saving(self, data: object, path: Path) -> SavingRule | None:
        if not isinstance(data, Mapping):
            self.fault(path, "saving needs upper, expected, resource and basis")
            return None
        upper = self._compile(data.get("upper", ""), (*path, "upper"), _want_time)
        names = {**self.names, "upper": Type("number", TIME)}
        expected = self._compile(data.get("expected", ""), (*path, "expected"), _want_time, names)
        resource = str(data.get("resource", self.data.get("saving", {}).get("resource", "")))
        if resource not in RESOURCES:
            self.fault((*path, "resource"), f"resource must be one of {', '.join(RESOURCES)}")
        if upper is None or expected is None:
            return None
        base = str(data.get("base", "kernel"))
        if base != "kernel" and self.data.get("scope") != TRACE:
            self.fault((*path, "base"), "only a rule of scope trace can save a share of the steady window or of copies")
        return SavingRule(upper, expected, resource, _flow(data.get("basis", "")), base)

    def _remedies(self) -> tuple[RemedyRule, ...]:
        remedies = []
        for index, entry in enumerate(self.data.get("remedies") or []):
            path: Path = ("remedies", index)
            when = self._compile(entry["when"], (*path, "when"), _want_truth) if "when" in entry else None
            saving = self._saving(entry["saving"], (*path, "saving")) if "saving" in entry else None
            remedies.append(
                RemedyRule(
                    str(entry["id"]),
                    str(entry["title"]),
                    when,
                    saving,
                    str(entry.get("effort", "")),
                    str(entry.get("risk", "")),
                    {k: str(v).rstrip() for k, v in (entry.get("code") or {}).items()},
                    _flow(entry.get("note", "")),
                )
            )
        return tuple(remedies)

    def _applies(self) -> tuple[dict[str, tuple[str, ...]], tuple[float, float] | None]:
        applies: dict[str, tuple[str, ...]] = {}
        cc: tuple[float, float] | None = None
        for key, value in (self.data.get("applies_to") or {}).items():
            if key not in _APPLIES:
                self.fault(("applies_to", key), f"unknown condition; known: {', '.join(sorted(_APPLIES))}")
            elif key == "cc":
                cc = parse_cc_range(str(value))
                if cc is None:
                    self.fault(("applies_to", "cc"), 'write a range such as ">=9.0" or "8.0-8.9"')
            else:
                applies[key] = tuple(str(item) for item in (value if isinstance(value, list) else [value]))
        return applies, cc

    def _verify(self) -> tuple[Verify, ...]:
        return tuple(
            Verify(str(entry["metric"]), entry["moves"], str(entry.get("where", "")))
            for entry in self.data.get("verify") or []
        )

    def _tests(self) -> tuple[RuleTest, ...]:
        tests = []
        for entry in self.data.get("tests") or []:
            given = entry.get("given") or {}
            tests.append(
                RuleTest(
                    name=str(entry["name"]),
                    expect=entry["expect"],
                    given=tuple(given if isinstance(given, list) else [given]),
                    fixture=str(entry.get("fixture", "")),
                    subject=str(entry.get("subject", "")),
                    missing=tuple(entry.get("missing", ())),
                    expected=_pair(entry.get("expected")),
                    share=_pair(entry.get("share")),
                )
            )
        return tuple(tests)

    def _template(self, path: Path, text: str) -> None:
        for name in _PLACEHOLDER.findall(text):
            if name not in self.names and name not in AGGREGATES:
                self.fault(path, f"the text uses unknown name {{{name}}}")


def parse_cc_range(text: str) -> tuple[float, float] | None:
    """``>=9.0``, ``<=8.9``, ``8.0-8.9`` or ``9.0`` as an inclusive range; None when it is none of them."""
    found = _CC.fullmatch(text.strip())
    if not found:
        return None
    sign, first, last = found.groups()
    if sign and last:
        return None
    low = 0.0 if sign == "<=" else float(first)
    high = 999.0 if sign == ">=" else float(last or first)
    return low, high


def _pair(value: object) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = (_si(item) for item in cast("list[object]", value))
    return low, high


def _si(value: object) -> float:
    number = si_value(value)
    if not isinstance(number, float):
        raise RuleError(f"not a number with a unit: {value!r}")
    return number


def si_value(value: object) -> float | str:
    """``"10 ms"`` -> 0.01, ``0.3`` -> 0.3, other texts unchanged."""
    if isinstance(value, bool | int | float):
        return float(value)
    number, _, unit = str(value).partition(" ")
    parsed = parse_unit(unit) if unit else None
    try:
        return float(number) * parsed.scale if parsed else str(value)
    except ValueError:
        return str(value)


def _flow(text: object) -> str:
    return " ".join(str(text).split())


def _want_truth(found: Type) -> str:
    return "" if found.kind == "truth" else f"a condition is needed, this is a {found}"


def _want_time(found: Type) -> str:
    if found.kind == "number" and (found.dimension.same_kind(TIME) or found.literal == 0.0):
        return ""
    return f"a saving is a time, this is a {found}"
