"""What the rules conclude: the in-memory form of a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from nsight_insight.model.baseline import Baseline
    from nsight_insight.model.charts import Charts
    from nsight_insight.model.issues import Issue, Location
    from nsight_insight.model.ledger import PrecisionLedger, TensorAccount
    from nsight_insight.model.profile import HotLine, Source, VendorFinding
    from nsight_insight.model.totals import DeviceTotals, Totals
    from nsight_insight.model.vendor import VendorMatch
    from nsight_insight.model.what_if import WhatIf

Severity = Literal["note", "warning", "error"]
Confidence = Literal["low", "medium", "high"]
SEVERITY_ORDER: Mapping[str, int] = {"note": 0, "warning": 1, "error": 2}
CONFIDENCE_WEIGHT: Mapping[str, float] = {"low": 0.4, "medium": 0.7, "high": 1.0}
"""Ranking weight of a confidence; a low-confidence saving counts less, it is never hidden."""
LOWER: Mapping[Confidence, Confidence] = {"high": "medium", "medium": "low", "low": "low"}
"""One step less confidence."""


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

    def _repr_html_(self) -> str:
        from nsight_insight.model.notebook import finding_html

        return finding_html(self)


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
class Report:
    """The whole outcome of an analysis.

    ``collect`` holds the commands that fill every gap, one a line; ``vendor_matches`` one entry per finding of
    ``vendor_findings``, in their order; ``charts`` what can be drawn, None unless the caller added it;
    ``baseline`` how findings stand to those of an earlier report, None where there is none; ``rules`` the ids of the
    rules that were asked; ``judged`` of those that had the data to judge something.
    """

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
    rules: tuple[str, ...] = ()
    judged: frozenset[str] = frozenset()
    suppressed: int = 0
    below_threshold: int = 0
    collect: str = ""
    ledger: PrecisionLedger | None = None
    tensor_account: TensorAccount | None = None
    vendor_matches: tuple[VendorMatch, ...] = ()
    device_totals: tuple[DeviceTotals, ...] = ()
    charts: Charts | None = None
    baseline: Baseline | None = None

    def new_findings(self) -> tuple[Finding, ...]:
        """Findings that the baseline does not have; all of them without a baseline."""
        if self.baseline is None:
            return self.findings
        marks = self.baseline.marks
        return tuple(finding for finding, mark in zip(self.findings, marks, strict=True) if mark.state == "new")

    def what_if(self, *patterns: str) -> WhatIf:
        """The time line if the findings of these rules (ids, shell patterns, or ``all``) were fixed."""
        from nsight_insight.model.what_if import what_if

        return what_if(self, *patterns)

    def failing(self, fail_on: str) -> tuple[Finding, ...]:
        """Findings at or above ``note``, ``warning``, ``error``, or a share such as ``5%``, as ``--fail-on`` counts."""
        from nsight_insight.model.gate import failing

        return failing(self, fail_on)

    def check(self, fail_on: str = "warning") -> None:
        """Raise ``CheckFailed`` with the findings at or above the limit, if there are any."""
        from nsight_insight.model.gate import check

        check(self, fail_on)

    def share(self, pattern: str) -> float:
        """Part of the time that findings of these rules could save together; NaN where none could be judged.

        ``pattern`` is a category (``precision``), a rule's name or id, or a shell pattern of ids.
        """
        from nsight_insight.model.gate import share

        return share(self, pattern)

    def not_judged(self, pattern: str = "*") -> tuple[NotEvaluated, ...]:
        """Rules, as of ``share``, that lacked data: what ``share`` could not count."""
        from nsight_insight.model.gate import not_judged

        return not_judged(self, pattern)

    def write(self, *paths: str | Path, force: bool = False, framework: str = "") -> tuple[Path, ...]:
        """Write the report to files in the formats of their endings; see ``report_files.write``."""
        module = import_module("nsight_insight.report_files")  # it draws, and the model must not know how
        return cast("tuple[Path, ...]", module.write(self, *paths, force=force, framework=framework))

    def to_pandas(self) -> pd.DataFrame:
        """A row per finding; ``frames.FINDING_COLUMNS`` says what the columns hold."""
        return cast("pd.DataFrame", import_module("nsight_insight.frames").findings_frame(self))

    def _repr_html_(self) -> str:
        from nsight_insight.model.notebook import report_html

        return report_html(self)
