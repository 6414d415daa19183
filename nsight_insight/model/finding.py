"""What the rules conclude: the in-memory form of a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nsight_insight.model.issues import Issue, Location
    from nsight_insight.model.ledger import PrecisionLedger, TensorAccount
    from nsight_insight.model.profile import HotLine, Source, VendorFinding

Severity = Literal["note", "warning", "error"]
Confidence = Literal["low", "medium", "high"]
SEVERITY_ORDER: Mapping[str, int] = {"note": 0, "warning": 1, "error": 2}
CONFIDENCE_WEIGHT: Mapping[str, float] = {"low": 0.4, "medium": 0.7, "high": 1.0}
"""Ranking weight of a confidence; a low-confidence saving counts less, it is never hidden."""


@dataclass(frozen=True)
class Quantity:
    """A named number in SI units (or a text) with the cell it was read from.

    ``cell`` is the number in that very cell, in SI: equal to ``value`` for a single launch, one
    contributor (the longest launch) where ``value`` combines several. None location: derived.
    """

    name: str
    value: float | str | None
    unit: str = ""
    location: Location | None = None
    cell: float | None = None
    combined: str = ""


@dataclass(frozen=True)
class Evidence:
    """One clause of a rule's ``when`` with the values it compared."""

    clause: str
    text: str
    values: tuple[Quantity, ...]


@dataclass(frozen=True)
class Saving:
    """Time that could be saved, in ns of the profile. ``share`` is expected over the time base.

    ``base_ns`` is that base where it is not the profile's kernel time: the steady window of findings about idle time.
    """

    expected_ns: float
    upper_ns: float
    share: float
    resource: str
    basis: str
    assumptions: tuple[str, ...] = ()
    base_ns: float | None = None


@dataclass(frozen=True)
class Member:
    """One kernel (or launch group) of a finding, with its part of time and saving.

    ``key`` is the name in one dialect, the same whether nsys or ncu wrote it.
    """

    kernel: str
    base: str
    device: int
    launches: int
    time_ns: float
    expected_ns: float
    upper_ns: float
    location: Location
    key: str = ""


@dataclass(frozen=True)
class Subject:
    """What a finding is about; ``kernel`` is empty for findings about a whole device or trace."""

    scope: str
    kernel: str
    device: int
    launches: int
    time_ns: float
    time_share: float
    members: tuple[Member, ...] = ()


@dataclass(frozen=True)
class Remedy:
    """Something to do. ``saving`` is None where it shares the finding's own."""

    id: str
    title: str
    effort: str = ""
    risk: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    saving: Saving | None = None


@dataclass(frozen=True)
class Finding:
    """One judgement of one rule."""

    rule: str
    title: str
    category: str
    severity: Severity
    confidence: Confidence
    subject: Subject
    saving: Saving
    message: str
    why: str
    evidence: tuple[Evidence, ...]
    remedies: tuple[Remedy, ...]
    explains: tuple[Finding, ...]
    false_positives: str
    references: tuple[str, ...]
    fingerprint: str
    location: Location
    hot_lines: tuple[HotLine, ...] = ()

    @property
    def rank(self) -> float:
        """Expected saving weighted by confidence, the ranking key."""
        return self.saving.expected_ns * CONFIDENCE_WEIGHT[self.confidence]


@dataclass(frozen=True)
class NotEvaluated:
    """A rule that lacked data: which metrics, on how much time, and how to collect them."""

    rule: str
    title: str
    missing: tuple[str, ...]
    reason: str
    kernels: int
    time_ns: float
    collect: str


@dataclass(frozen=True)
class Totals:
    """Time bases of the profile, in ns; None where the input cannot say."""

    kernel_ns: float
    launches: int
    kernels: int
    copy_ns: float | None = None
    gpu_busy_ns: float | None = None
    window_ns: float | None = None
    steady_busy_ns: float | None = None
    steady_window_ns: float | None = None
    steady_steps: int | None = None
    api_ns: float | None = None
    basis: str = ""
    families: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """The whole outcome of an analysis; ``collect`` holds the commands that fill every gap, one a line."""

    version: str
    sources: tuple[Source, ...]
    devices: tuple[str, ...]
    totals: Totals
    findings: tuple[Finding, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    vendor_findings: tuple[VendorFinding, ...]
    issues: tuple[Issue, ...]
    potential: Saving
    rules_evaluated: int = 0
    suppressed: int = 0
    below_threshold: int = 0
    collect: str = ""
    ledger: PrecisionLedger | None = None
    tensor_account: TensorAccount | None = None
