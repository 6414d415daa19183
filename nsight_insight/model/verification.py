"""What findings promised before a change, and what a second capture shows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nsight_insight.model.comparison import Change, Measure, Run, State, Unit

Outcome = Literal["confirmed", "partly", "refuted", "unknown"]
Movement = Literal["as predicted", "stayed", "other way", "unknown"]


@dataclass(frozen=True)
class Expectation:
    """One quantity that should have moved.

    Attributes:
        metric: fact or canonical metric, as the rule names it.
        moves: up or down.
        where: the rule's own words for the place.
        before, after: SI values; None where a capture does not hold it.
        unit: SI unit symbol, "" for numbers and fractions.
    """

    metric: str
    moves: Literal["up", "down"]
    where: str
    before: float | None
    after: float | None
    unit: str
    movement: Movement


@dataclass(frozen=True)
class Verification:
    """One finding held against what happened; times in ns per unit of the comparison.

    Attributes:
        expected, upper: the predicted range; over its remedies where they have savings of their own.
        measured: time before minus time after of what the finding is about; None where that cannot be told.
        least: smallest difference that noise does not explain.
        about: what was measured: its kernels, the step, or all kernels.
        state: what became of the finding itself.
    """

    rule: str
    title: str
    kernel: str
    outcome: Outcome
    expected: float
    upper: float
    measured: float | None
    least: float | None
    about: str
    reason: str
    state: State
    expectations: tuple[Expectation, ...]
    fingerprint: str


@dataclass(frozen=True)
class Verifications:
    """Every finding of the side before, in its order.

    Attributes:
        reason: why times cannot be compared, "" where they can.
        overall: how the whole changed; None where that cannot be told.
        measure: what ``overall`` is about: the length of a step, or all kernels.
    """

    version: str
    before: Run
    after: Run
    unit: Unit
    reason: str
    overall: Change | None
    measure: Measure
    findings: tuple[Verification, ...]
    cautions: tuple[str, ...] = ()
