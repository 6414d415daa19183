"""A loaded rule: frozen dataclasses, every expression compiled and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nsight_insight.model.finding import Confidence, Severity
    from nsight_insight.rules.expr import Expression

CATEGORIES = (
    "precision", "tensor-core", "memory", "latency", "occupancy", "launch", "sync", "transfer", "idle",
    "allocation", "communication", "imbalance", "capture",
)  # fmt: skip
RESOURCES = ("math", "memory", "latency", "occupancy", "launch", "host", "copy", "work")
"""What a saving relieves. Savings on the same resource of one kernel do not add; ``work`` removes the
kernel's work altogether (casts, layout copies, fusion)."""


@dataclass(frozen=True)
class Param:
    """A tunable number; SI value, with the unit it was written in."""

    value: float
    unit: str
    doc: str


@dataclass(frozen=True)
class Clause:
    """One condition of ``when``; each becomes a piece of evidence."""

    id: str
    text: str
    condition: Expression


@dataclass(frozen=True)
class SavingRule:
    """How much time: two expressions in seconds, the resource relieved and where the formula is from.

    ``base`` says of what the saving is a share: ``kernel`` time, ``steady`` (the device's steady window), or
    ``copies`` (the device's kernel time and its copies after the first kernel).
    """

    upper: Expression
    expected: Expression
    resource: str
    basis: str
    base: str = "kernel"


@dataclass(frozen=True)
class Doubt:
    """A condition that lowers the finding's confidence by one step, and why."""

    condition: Expression
    text: str


@dataclass(frozen=True)
class RemedyRule:
    """A remedy with its own condition and, if it differs from the rule's, its own saving."""

    id: str
    title: str
    when: Expression | None
    saving: SavingRule | None
    effort: str
    risk: str
    code: Mapping[str, str]
    note: str


@dataclass(frozen=True)
class Verify:
    """What should move after the fix."""

    metric: str
    moves: Literal["up", "down"]
    where: str


@dataclass(frozen=True)
class RuleTest:
    """One test inside a rule file: invented facts or a real fixture, and what must come out."""

    name: str
    expect: Literal["fires", "silent", "unknown"]
    given: tuple[Mapping[str, Any], ...]
    fixture: str = ""
    subject: str = ""
    missing: tuple[str, ...] = ()
    expected: tuple[float, float] | None = None
    share: tuple[float, float] | None = None


@dataclass(frozen=True)
class Rule:
    """One judgement.

    ``merge`` makes one finding of all subjects of a device (one cause, one remedy); otherwise every
    kernel name gets its own.
    """

    id: str
    file: str
    category: str
    title: str
    since: str
    status: Literal["preview", "stable", "deprecated"]
    severity: Severity
    confidence: Confidence
    scope: str
    merge: bool
    applies_to: Mapping[str, tuple[str, ...]]
    applies_cc: tuple[float, float] | None
    params: Mapping[str, Param]
    let: Mapping[str, Expression]
    when: tuple[Clause, ...]
    saving: SavingRule
    doubts: tuple[Doubt, ...]
    explains: tuple[str, ...]
    message: str
    why: str
    remedies: tuple[RemedyRule, ...]
    verify: tuple[Verify, ...]
    false_positives: str
    references: tuple[str, ...]
    tests: tuple[RuleTest, ...] = field(default=())
