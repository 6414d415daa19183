"""What captures are and what they are good for: the in-memory form of an inspection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nsight_insight.model.issues import Issue, Location

Verdict = Literal["judged", "partly", "lacking", "nothing"]
"""Of a rule: everything it is about could be judged; a part of it; nothing, for lack of data; it is about nothing
in the profile."""
Weight = Literal["invalid", "doubt", "note"]
"""Of a caution: conclusions would be wrong; they need care; good to know."""
WEIGHT_ORDER: dict[str, int] = {"invalid": 0, "doubt": 1, "note": 2}


@dataclass(frozen=True)
class InspectedTable:
    """One table of a file.

    Attributes:
        known: canonical metrics and activity columns it holds, sorted.
        unknown: names in it that the catalogue does not use, sorted.
        gaps: metrics with cells that hold no number: name and, in words, how many and why.
    """

    report: str
    rows: int
    known: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class InspectedDevice:
    """A GPU as the file describes it; what it does not say is "" or None."""

    index: int
    name: str
    cc: float | None = None
    sm_count: int | None = None


@dataclass(frozen=True)
class InspectedSamples:
    """GPU metrics that nsys sampled on one device.

    Attributes:
        samples: moments sampled.
        frequency: samples per second.
        window: means over the device's window, by metric: fractions, clocks in Hz; empty where none lies in it.
        steady: the same over the steady window.
    """

    device: int
    samples: int
    frequency: float | None
    window: tuple[tuple[str, float], ...] = ()
    steady: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class InspectedCalls:
    """MPI calls of one function, all ranks of the file together."""

    name: str
    calls: int
    total_ns: float


@dataclass(frozen=True)
class InspectedManaged:
    """Managed memory; None: not in the file.

    Attributes:
        migrated_bytes: bytes that moved, either way.
        kernel_ns: kernel time during which pages moved or faults were served.
    """

    migrated_bytes: float
    gpu_faults: int | None = None
    cpu_faults: int | None = None
    kernel_ns: float | None = None


@dataclass(frozen=True)
class InspectedFile:
    """One file, or one member of an archive.

    Attributes:
        what: what it is, or what it looks like where it could not be read.
        error: why it could not be read, "" where it was.
        advice: what to do about it, "" for nothing.
        driver: version of the NVIDIA driver where the file says so.
        launches: kernel launches that its rows stand for.
        kernels: different kernels.
        kernel_ns: sum of their durations; None where no row has any.
        window_ns: first start to last end of the device's work; None without start times.
        steps: training steps found; None when there are none to be found.
        issues: what was dropped or doubted.
        mpi: MPI calls by function, most time first.
    """

    path: str
    what: str
    error: str = ""
    advice: str = ""
    tool: str = ""
    reader: str = ""
    version: str = ""
    driver: str = ""
    devices: tuple[InspectedDevice, ...] = ()
    launches: int = 0
    kernels: int = 0
    kernel_ns: float | None = None
    window_ns: float | None = None
    steps: int | None = None
    tables: tuple[InspectedTable, ...] = ()
    issues: tuple[Issue, ...] = ()
    samples: tuple[InspectedSamples, ...] = ()
    mpi: tuple[InspectedCalls, ...] = ()
    managed: InspectedManaged | None = None


@dataclass(frozen=True)
class Caution:
    """Something about the captures that conclusions depend on.

    Attributes:
        id: what kind of caution it is, stable.
        text: what is the matter, with its numbers.
        remedy: how to capture better, "" for nothing to do.
        location: where it shows.
    """

    id: str
    weight: Weight
    text: str
    remedy: str = ""
    location: Location | None = None


@dataclass(frozen=True)
class RuleStatus:
    """Whether one rule can be judged.

    Attributes:
        reason: what it lacks, "" for nothing.
        time_share: share of the kernel time it is about and could judge; subjects of a whole device count in full.
    """

    rule: str
    title: str
    verdict: Verdict
    reason: str = ""
    time_share: float = 0.0


@dataclass(frozen=True)
class HeldMetric:
    """A canonical metric in one table.

    Attributes:
        rows: rows with a value, of ``total``.
        names: name or label as written, its unit, and the rows it serves; preferred first.
        gaps: why the other rows have no value, "" where all have one.
    """

    name: str
    path: str
    report: str
    rows: int
    total: int
    names: tuple[tuple[str, str, int], ...]
    gaps: str = ""

    @property
    def place(self) -> str:
        """The table, for people."""
        return f"{self.path}, {self.report}"


@dataclass(frozen=True)
class Inspection:
    """Everything about some captures; ``collect`` holds the commands that fill the gaps, ``notes`` what they assume."""

    version: str
    files: tuple[InspectedFile, ...]
    cautions: tuple[Caution, ...] = ()
    rules: tuple[RuleStatus, ...] = ()
    collect: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
