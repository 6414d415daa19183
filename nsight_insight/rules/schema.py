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
    # The text under a field is its description in the JSON Schema, which editors show.
    model_config = ConfigDict(extra="forbid", strict=False, populate_by_name=True, use_attribute_docstrings=True)


class ParamModel(_Strict):
    """A tunable number with its unit."""

    value: float
    """Default, in the unit; users may change it in their configuration."""
    unit: Text
    """fraction, ms, us, byte, GB/s, 1 and so on; numbers are compared in SI units."""
    doc: Text
    """What the number means, in a few words."""


class ClauseModel(_Strict):
    """One condition; ``say`` is the sentence a finding prints for it."""

    id: Text
    """Name of the clause within the rule."""
    condition: Text = Field(alias="if")
    """An expression; unknown facts make it unknown, and the rule not judged."""
    say: Text
    """Sentence of the evidence; {name} is filled in with the value of a fact, parameter or let."""


class DoubtModel(_Strict):
    """A condition that lowers confidence by one step."""

    condition: Text = Field(alias="if")
    """An expression; where it holds, confidence drops."""
    say: Text
    """Why."""


class SavingModel(_Strict):
    """Seconds: the most that could be saved and what to expect."""

    upper: Scalar
    """An expression: the most that could be saved, in seconds; clipped to the time of the subject."""
    expected: Scalar
    """An expression: what such a change usually saves, in seconds."""
    resource: Literal["math", "memory", "latency", "occupancy", "launch", "host", "copy", "work"]
    """What is relieved: savings on one resource of one kernel do not add. work removes the kernel altogether."""
    basis: Text
    """Where the formula and its factors are from."""
    base: Literal["kernel", "steady", "copies"] = "kernel"
    """Of what the saving is a share: kernel time, the steady window, or kernels and copies."""


class RemedySavingModel(_Strict):
    """As SavingModel; resource and basis default to the rule's."""

    upper: Scalar
    """An expression: the most that this remedy could save, in seconds."""
    expected: Scalar
    """An expression: what it usually saves, in seconds."""
    resource: str | None = None
    """What is relieved, where it differs from the rule's."""
    basis: str = ""
    """Where the formula is from, where it differs from the rule's."""


class RemedyModel(_Strict):
    """Something to do."""

    id: Text
    """Name of the remedy within the rule."""
    title: Text
    """What to do, as an instruction."""
    when: str | None = None
    """An expression; the remedy is shown only where it holds."""
    saving: RemedySavingModel | None = None
    """Its own saving, where it differs from that of the rule."""
    effort: Literal["", "low", "medium", "high"] = ""
    """How much work it is."""
    risk: str = ""
    """What may go wrong, or what must be compared afterwards."""
    code: dict[Literal["pytorch", "tensorflow", "jax", "cuda", "triton", "shell"], str] = Field(default_factory=dict)
    """Code by framework, in current spelling."""
    note: str = ""
    """What else to know."""


class VerifyModel(_Strict):
    """What should move after the fix."""

    metric: Text
    """A metric or fact."""
    moves: Literal["up", "down"]
    """Which way it should move."""
    where: str = ""
    """On which kernels, and how far."""


class TestModel(_Strict):
    """A test: ``given`` facts of one or several subjects, or a ``fixture`` under fixtures/."""

    __test__ = False
    name: Text
    """What the test shows."""
    expect: Literal["fires", "silent", "unknown"]
    """What must come out."""
    given: dict[str, Scalar] | list[dict[str, Scalar]] = Field(default_factory=dict)
    """Facts with units ("5 ms", "30 %") of one subject or of several; all others are unknown."""
    fixture: str = ""
    """A real capture under fixtures/ instead of given."""
    subject: str = ""
    """Part of the name of the kernel that the finding must be about."""
    missing: list[str] = Field(default_factory=list)
    """Metrics that an unknown result must name as missing."""
    expected: Pair | None = None
    """Smallest and largest expected saving, as times."""
    share: Pair | None = None
    """Smallest and largest share of the time that the finding is about."""


class RuleModel(_Strict):
    """One rule file, ``rules/<category>/<id>.yaml``."""

    rule_schema: Literal[1] = Field(alias="schema")
    """Version of this schema."""
    title: Text
    """The finding in a few words, as a headline."""
    since: Text
    """Version of the rule set that had it first."""
    status: Literal["preview", "stable", "deprecated"]
    """preview may change; deprecated is not judged any more."""
    severity: Literal["note", "warning", "error"]
    """How sure it is to be worth acting on, not how much it brings."""
    confidence: Literal["low", "medium", "high"]
    """How sure the cause is; weighs the saving in the ranking (0.4, 0.7, 1)."""
    scope: Literal["launch", "kernel", "sequence", "trace"]
    """What is looked at: each launch, each kernel name, kernels in the order of their stream, each GPU as a whole."""
    merge: bool = False
    """One finding for all subjects of a GPU (one cause, one remedy) instead of one per kernel."""
    applies_to: dict[Literal["family", "dtype_in", "dtype_out", "tensor_core", "library", "tool", "cc"],
                     str | float | list[str]] = Field(default_factory=dict)  # fmt: skip
    """Subjects that are looked at; cc is a range such as ">=9.0" or "8.0-8.9"."""
    params: dict[str, ParamModel] = Field(default_factory=dict)
    """Tunable numbers that expressions may name."""
    let: dict[str, Scalar] = Field(default_factory=dict)
    """Named expressions, each may use those before it."""
    when: Annotated[list[ClauseModel], Field(min_length=1)]
    """Conditions that must all hold; each becomes a piece of evidence."""
    doubt: list[DoubtModel] = Field(default_factory=list)
    """Conditions that lower confidence."""
    saving: SavingModel
    """How much time, and where the formula is from."""
    explains: list[str] = Field(default_factory=list)
    """Rules (shell patterns) whose findings on the same kernels are consequences of this one."""
    message: Text
    """The finding in a sentence or two; {name} is filled in, {launches:launch} counts."""
    why: Text
    """Why this costs time."""
    remedies: Annotated[list[RemedyModel], Field(min_length=1)]
    """What to do, best first."""
    verify: list[VerifyModel] = Field(default_factory=list)
    """What should move after the change."""
    false_positives: Text
    """When the finding is wrong, or right and of no use."""
    references: Annotated[list[str], Field(min_length=1)]
    """Sources of thresholds, formulas and advice."""
    tests: list[TestModel] = Field(default_factory=list)
    """Tests: that it fires, that it is silent on a healthy profile, that it says what it lacks."""


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
