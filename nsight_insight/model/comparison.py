"""What two captures of a program, before and after a change, say about each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, Severity
    from nsight_insight.model.issues import Issue

Verdict = Literal["faster", "slower", "same", "unknown"]
Unit = Literal["step", "capture", ""]
"""What times are given for: a training step, the whole capture where both hold the same work, or "" where totals
cannot be compared."""
Measure = Literal["wall", "kernel", ""]
"""What a verdict is about: the length of a step, or the sum of kernel durations."""
Match = Literal["name", "template", "position", "family", "none"]
"""How kernels were recognised again, from certain to weak: same name; same function with other template arguments;
same family, or the same number of launches, at the same place between kernels that match; what is left of a family."""
State = Literal["new", "fixed", "worse", "better", "unchanged", "unknown"]


@dataclass(frozen=True)
class Change:
    """One quantity before and after.

    Attributes:
        before, after: in ns (or what the owner says); None where that side does not tell.
        least: smallest difference that noise does not explain, in the same unit; None where nothing can be said.
        verdict: ``unknown`` where the difference is below ``least`` and ``least`` is too large for "same".
        reason: why the verdict is unknown, "" otherwise.
    """

    before: float | None
    after: float | None
    least: float | None
    verdict: Verdict
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """After minus before; negative is faster."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def share(self) -> float | None:
        """The difference over the value before: -0.5 is half the time; None without a value before."""
        difference = self.difference
        return difference / self.before if difference is not None and self.before else None


@dataclass(frozen=True)
class KernelPart:
    """One kernel on one side: time in ns and launches, both per unit of the comparison (per launch without one)."""

    name: str
    base: str
    family: str
    dtype: str
    time_ns: float
    launches: float


@dataclass(frozen=True)
class KernelChange:
    """Kernels of one side and what they became on the other; one side is empty for new and gone kernels.

    Attributes:
        match: how they were recognised.
        what: same, recompiled, precision, replaced, fused, split, rewritten, new or gone.
        time: time per unit of the comparison; per launch where totals cannot be compared.
        bytes_before, bytes_after: DRAM bytes per unit where ncu counted them, else None.
    """

    before: tuple[KernelPart, ...]
    after: tuple[KernelPart, ...]
    match: Match
    what: str
    time: Change
    bytes_before: float | None = None
    bytes_after: float | None = None

    @property
    def lead(self) -> KernelPart:
        """The part that takes most time, of the side after where there is one."""
        return max(self.after or self.before, key=lambda part: part.time_ns)


@dataclass(frozen=True)
class GroupChange:
    """Time of a family of kernels, of copies in one direction, or of idle time with one cause."""

    kind: Literal["family", "copies", "idle"]
    name: str
    time: Change
    launches_before: float | None = None
    launches_after: float | None = None


@dataclass(frozen=True)
class FindingChange:
    """A finding on one or both sides. ``saving_before`` and ``_after`` are expected ns per unit (shares without one).

    Attributes:
        note: why the state is unknown, or which finding explains it now.
    """

    state: State
    rule: str
    title: str
    severity: Severity
    kernel: str
    saving_before: float | None
    saving_after: float | None
    before: Finding | None = None
    after: Finding | None = None
    note: str = ""


@dataclass(frozen=True)
class Run:
    """One side, for the reader: what was read and how much of it counts.

    Attributes:
        steps: training steps that times are averaged over; None where none are known.
        launches: kernel launches per unit of the comparison, of the whole capture without one.
        noise: where the uncertainty of its times comes from.
    """

    paths: tuple[str, ...]
    tool: str
    devices: tuple[str, ...]
    steps: int | None
    launches: float
    kernels: int
    noise: str


@dataclass(frozen=True)
class Comparison:
    """The whole outcome.

    Attributes:
        verdict: of ``wall`` where both sides tell, else of ``kernel``.
        measure: what the verdict is about.
        reason: why the verdict is unknown.
        wall: length of a step on the GPU's clock (median step).
        kernel: sum of kernel durations per unit.
        launches: kernel launches per unit; no verdict of its own.
        bytes: DRAM bytes per unit of matched kernels that ncu counted on both sides.
        cautions: what the reader must know before believing any of it.
    """

    version: str
    before: Run
    after: Run
    unit: Unit
    verdict: Verdict
    measure: Measure
    reason: str
    wall: Change | None
    kernel: Change | None
    launches: tuple[float, float] | None
    bytes: tuple[float, float] | None
    groups: tuple[GroupChange, ...]
    kernels: tuple[KernelChange, ...]
    findings: tuple[FindingChange, ...]
    cautions: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = field(default=())
