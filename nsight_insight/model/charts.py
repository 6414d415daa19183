"""What pictures of a profile show: plain numbers, no drawing. Times in ns, rates per second, shares fractions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

IDLE_CAUSES: Final[Mapping[str, str]] = {
    "launch": "host still launching",
    "sync": "host had waited for the GPU",
    "allocation": "allocation call",
    "mpi": "MPI call",
    "module": "loading GPU code",
    "copy": "copy call",
    "data": "preparing data",
    "host": "host busy otherwise",
    "queued": "work queued, GPU not started",
    "unknown": "host side not recorded",
}
"""Causes of idle time (the facts ``idle_<cause>_time``) in words for people."""


@dataclass(frozen=True)
class Spread:
    """A quantity over launches; all four are equal for a single launch."""

    low: float
    median: float
    p95: float
    high: float


@dataclass(frozen=True)
class RooflinePoint:
    """One kernel on the roofline, from the launches that ncu measured.

    Attributes:
        kernel: its name as the input writes it.
        launches: launches of the time base; ``measured`` of them by ncu.
        time_ns: its time in the time base; ``share`` of the device's kernel time.
        path: what most of its compute time at peak is spent on: ``fp16 tensor``, ``fp32`` ...
        intensity: memory level (``DRAM``, ``L2``, ``L1``) -> operations per byte moved there.
        rate: operations per second, all launches together.
        intensities: spread of the DRAM intensity over launches; ``rates`` of the rate.
        peak: operations per second of the paths it uses, at the measured clock; None where the GPU is not known.
        ceiling: the most its own mix of launches could reach, given its DRAM bytes and its operations.
        bound: ``memory`` or ``compute``, by which of the two takes longer at peak; "" without a ceiling.
        ridge: DRAM intensity from which on compute is the limit.
    """

    kernel: str
    family: str
    launches: int
    measured: int
    time_ns: float
    share: float
    path: str
    intensity: Mapping[str, float]
    rate: float
    intensities: Spread
    rates: Spread
    peak: float | None = None
    ceiling: float | None = None
    bound: str = ""
    ridge: float | None = None

    @property
    def reached(self) -> float | None:
        """Rate over ceiling."""
        return self.rate / self.ceiling if self.ceiling else None


@dataclass(frozen=True)
class Unplaced:
    """A kernel that cannot be placed, and why."""

    kernel: str
    time_ns: float
    share: float
    reason: str


@dataclass(frozen=True)
class Roofline:
    """Roofs of one device and its kernels under them.

    Attributes:
        gpu: its name, "" unknown.
        clock_hz: median SM clock of the measured launches, which the compute roofs hold for; None unknown.
        bandwidths: memory level -> byte/s.
        peaks: path -> operations/s, of the paths that the kernels use.
        points: most time first; ``unplaced`` likewise.
        note: without points, what collects the data; "" where nothing is lacking.
    """

    device: int
    gpu: str
    clock_hz: float | None
    bandwidths: Mapping[str, float]
    peaks: Mapping[str, float]
    points: tuple[RooflinePoint, ...]
    unplaced: tuple[Unplaced, ...]
    note: str = ""


@dataclass(frozen=True)
class StallBar:
    """Where the warps of one kernel wait.

    Attributes:
        shares: stall reason in Nsight Compute's words -> share of the cycles between two instructions of a warp.
        coverage: sum of the reasons over those cycles as measured; far from 1, the shares cannot be trusted.
    """

    kernel: str
    device: int
    time_ns: float
    share: float
    shares: Mapping[str, float]
    coverage: float


@dataclass(frozen=True)
class Breakdown:
    """Where one device's time goes.

    Attributes:
        families: kernel family -> ns, most first.
        copies_ns: copies after the first kernel; None where the input lists none.
        idle: cause -> ns of the steady window; empty where no steady window is known.
        busy_ns: union of everything that ran in the window; ``window_ns`` its length.
        steady: True where the window leaves the warm-up out.
    """

    device: int
    gpu: str
    families: Mapping[str, float]
    copies_ns: float | None = None
    idle: Mapping[str, float] = field(default_factory=dict)
    busy_ns: float | None = None
    window_ns: float | None = None
    steady: bool = False


@dataclass(frozen=True)
class Block:
    """Work on a lane: neighbours too narrow to be told apart are one block, named by the family with most time.

    Attributes:
        start_ns, end_ns: since the start of the window.
        busy_ns: time in which something ran; less than the length where short gaps were joined.
        label: the kernel, where the block is a single one.
    """

    start_ns: float
    end_ns: float
    busy_ns: float
    family: str
    count: int
    label: str = ""


@dataclass(frozen=True)
class Lane:
    """A stream, or a kind of copy."""

    label: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Timeline:
    """A stretch of one device's time.

    Attributes:
        window_ns: its length.
        title: what it is, such as ``step 4 of 10, the median of 9 steady ones``.
        idle: cause -> ns in the window, most first.
        cells: cause -> idle part of each of equally long cells of the window, 0 to 1; the causes of a cell add up.
        note: why there is nothing to show, "" where there is.
    """

    device: int
    gpu: str
    window_ns: float
    busy_ns: float
    title: str
    lanes: tuple[Lane, ...]
    idle: Mapping[str, float]
    cells: Mapping[str, tuple[float, ...]]
    note: str = ""


@dataclass(frozen=True)
class KernelRow:
    """One kernel in the table of all kernels; None where the input does not say."""

    kernel: str
    device: int
    family: str
    dtype: str
    tensor_core: str
    launches: int
    time_ns: float
    share: float
    mean_ns: float | None
    sm_throughput: float | None = None
    memory_throughput: float | None = None
    tensor_active: float | None = None
    occupancy: float | None = None


@dataclass(frozen=True)
class Charts:
    """Everything that can be drawn of one profile; one entry per device where a field is a tuple of such."""

    files: tuple[str, ...]
    rooflines: tuple[Roofline, ...]
    stalls: tuple[StallBar, ...]
    stalls_note: str
    breakdowns: tuple[Breakdown, ...]
    timelines: tuple[Timeline, ...]
    kernels: tuple[KernelRow, ...]
