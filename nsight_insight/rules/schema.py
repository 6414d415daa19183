"""Validation of rule files that CI has not checked, and the JSON Schema editors use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nsight_insight.catalog.yamlio import Marks
from nsight_insight.errors import RuleError

Text = Annotated[str, Field(min_length=1)]
Scalar = str | int | float | bool
Pair = tuple[str | float, str | float]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False, populate_by_name=True)


class ParamModel(_Strict):
    """A tunable number with its unit."""

    value: float
    unit: Text
    doc: Text


class ClauseModel(_Strict):
    """One condition; ``say`` is the sentence a finding prints for it."""

    id: Text
    condition: Text = Field(alias="if")
    say: Text


class DoubtModel(_Strict):
    """A condition that lowers confidence by one step."""

    condition: Text = Field(alias="if")
    say: Text


class SavingModel(_Strict):
    """Seconds: the most that could be saved and what to expect."""

    upper: Scalar
    expected: Scalar
    resource: Literal["math", "memory", "latency", "occupancy", "launch", "host", "copy", "work"]
    basis: Text
    base: Literal["kernel", "steady", "copies"] = "kernel"


class RemedySavingModel(_Strict):
    """As SavingModel; resource and basis default to the rule's."""

    upper: Scalar
    expected: Scalar
    resource: str | None = None
    basis: str = ""


class RemedyModel(_Strict):
    """Something to do."""

    id: Text
    title: Text
    when: str | None = None
    saving: RemedySavingModel | None = None
    effort: Literal["", "low", "medium", "high"] = ""
    risk: str = ""
    code: dict[Literal["pytorch", "tensorflow", "jax", "cuda", "triton", "shell"], str] = Field(default_factory=dict)
    note: str = ""


class VerifyModel(_Strict):
    """What should move after the fix."""

    metric: Text
    moves: Literal["up", "down"]
    where: str = ""


class TestModel(_Strict):
    """A test: ``given`` facts of one or several subjects, or a ``fixture`` under fixtures/."""

    __test__ = False
    name: Text
    expect: Literal["fires", "silent", "unknown"]
    given: dict[str, Scalar] | list[dict[str, Scalar]] = Field(default_factory=dict)
    fixture: str = ""
    subject: str = ""
    missing: list[str] = Field(default_factory=list)
    expected: Pair | None = None
    share: Pair | None = None


class RuleModel(_Strict):
    """One rule file, ``rules/<category>/<id>.yaml``."""

    rule_schema: Literal[1] = Field(alias="schema")
    title: Text
    since: Text
    status: Literal["preview", "stable", "deprecated"]
    severity: Literal["note", "warning", "error"]
    confidence: Literal["low", "medium", "high"]
    scope: Literal["launch", "kernel", "sequence", "trace"]
    merge: bool = False
    applies_to: dict[Literal["family", "dtype_in", "dtype_out", "tensor_core", "library", "tool", "cc"],
                     str | float | list[str]] = Field(default_factory=dict)  # fmt: skip
    params: dict[str, ParamModel] = Field(default_factory=dict)
    let: dict[str, Scalar] = Field(default_factory=dict)
    when: Annotated[list[ClauseModel], Field(min_length=1)]
    doubt: list[DoubtModel] = Field(default_factory=list)
    saving: SavingModel
    explains: list[str] = Field(default_factory=list)
    message: Text
    why: Text
    remedies: Annotated[list[RemedyModel], Field(min_length=1)]
    verify: list[VerifyModel] = Field(default_factory=list)
    false_positives: Text
    references: Annotated[list[str], Field(min_length=1)]
    tests: list[TestModel] = Field(default_factory=list)


def validate(data: Mapping[str, Any], marks: Marks, file: str) -> list[RuleError]:
    """Every fault of a rule file's shape, each at its line and column."""
    try:
        RuleModel.model_validate(data)
    except ValidationError as error:
        return [_fault(dict(item), marks, file) for item in error.errors(include_url=False)]
    return []


def _fault(item: Mapping[str, Any], marks: Marks, file: str) -> RuleError:
    location = tuple(part for part in item["loc"] if part not in ("str", "dict", "list", "float", "bool", "int"))
    line, column = marks.at(location)
    text = str(item["msg"])
    if item["type"] == "extra_forbidden":
        text = f"unknown key {location[-1]!r}{_suggest(str(location[-1]))}"
    elif item["type"] == "missing":
        text = f"key {location[-1]!r} is missing"
    return RuleError(text, file=file, line=line, column=column, path=".".join(map(str, location)))


def _suggest(key: str) -> str:
    from difflib import get_close_matches

    known: list[str] = []
    for model in (RuleModel, ClauseModel, SavingModel, RemedyModel, ParamModel, TestModel):
        known += [field.alias or name for name, field in model.model_fields.items()]
    close = get_close_matches(key, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a rule file, for editors."""
    schema = RuleModel.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "nsight_insight rule"
    return schema
