"""What readers produce and everything else consumes."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from nsight_insight.model.issues import Issue, Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from nsight_insight.errors import InputError
    from nsight_insight.model.plotting import Plots

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ColumnOrigin:
    """Where one column of one table stands in its file.

    Attributes:
        field: heading or metric name exactly as written there.
        column: 1-based field number in the record, character column in plain text; None in databases and
            binary reports.
        unit: unit as written, "" when none.
        lines: line per row of the table where the cells do not share the row's own line (ncu details
            page: one line per metric); None otherwise.
        columns: column per row where the cells do not stand below each other (plain text); None otherwise.
    """

    field: str
    column: int | None
    unit: str = ""
    lines: Ints | None = None
    columns: Ints | None = None


@dataclass(frozen=True)
class Source:
    """One table of one input.

    Attributes:
        path: path as the user gave it, "-" for standard input; members of archives as ``a.zip!b.csv``.
        reader: reader name, e.g. ``ncu_csv``.
        tool: ``ncu``, ``nsys`` or ``nvprof``.
        report: ``raw``, ``details``, ``cuda_gpu_kern_sum`` ...
        version: tool version when the file says so, else "".
        rows: activity rows read.
        columns: activity or metric column -> origins, preferred first; several when rows differ in
            which metric they carry.
        pick: metric column -> index into ``columns[...]`` per row, only where there are several origins.
        reasons: metric column -> ``Missing`` code per row (uint8); absent key = no gaps.
        available: metric names or headings in the file, known to the catalogue or not.
        banners: tool lines worth showing (``==WARNING==``, SKIPPED, NOTICE).
        table: table of a database, "" for texts; lines are then rowids.
        facts: what the file says about the run itself: ``driver`` (version of the NVIDIA driver), ``overhead_ns``
            (time between the first and the last kernel in which the profiler itself worked).
        incomplete: rows of the table are known to be lost; its totals are too small.
    """

    path: str
    reader: str
    tool: str
    report: str
    version: str = ""
    rows: int = 0
    first_row: int = 0
    columns: Mapping[str, tuple[ColumnOrigin, ...]] = field(default_factory=dict)
    pick: Mapping[str, Ints] = field(default_factory=dict)
    reasons: Mapping[str, npt.NDArray[np.uint8]] = field(default_factory=dict)
    available: frozenset[str] = frozenset()
    banners: tuple[str, ...] = ()
    table: str = ""
    facts: Mapping[str, str | float] = field(default_factory=dict)
    incomplete: bool = False

    def locate(self, row: int, column: str, line: int) -> Location:
        """The cell that holds ``column`` of this table's ``row`` (0-based in the table; its line given)."""
        origins = self.columns.get(column)
        if not origins:
            return Location(self.path, line, table=self.table)
        origin = origins[int(self.pick[column][row])] if column in self.pick else origins[0]
        if origin.lines is not None:
            line = int(origin.lines[row])
        place = origin.column if origin.columns is None else int(origin.columns[row])
        return Location(self.path, line, place, origin.field, self.table)


@dataclass(frozen=True)
class Device:
    """A GPU as the profile describes it; None and "" mean the profile does not say."""

    index: int
    name: str = ""
    cc: float | None = None
    sm_count: int | None = None
    sm_clock_hz: float | None = None
    memory_bandwidth: float | None = None
    location: Location | None = None
    identity: str = field(default="", compare=False, repr=False)
    """Digest that tells this GPU from others of any machine; "" unknown. For comparing, never shown."""


@dataclass(frozen=True)
class Run:
    """Where and when a capture was made, as far as the file says; for comparing inputs, never shown.

    Attributes:
        host: digest of the machine's name, "" unknown.
        began: UTC in ns at time 0 of the capture's clock.
        booted: UTC in ns at time 0 of the machine's own clock.
        rank: number of the process among those of a distributed job.
    """

    host: str = ""
    began: int | None = None
    booted: int | None = None
    rank: int | None = None


@dataclass(frozen=True)
class VendorFinding:
    """A rule result that NVIDIA's own tool wrote into the file; never added to our savings.

    ``estimated_speedup`` is the share of the kernel's time NVIDIA expects to remove (0.3 = 30 %).
    """

    tool: str
    rule: str
    kind: str
    text: str
    location: Location
    section: str = ""
    kernel: str = ""
    row: int | None = None
    scope: str = ""
    estimated_speedup: float | None = None


@dataclass(frozen=True)
class HotLine:
    """One of the instructions or source lines at which most warps of a kernel were sampled.

    Attributes:
        kernel: kernel name as the source page writes it; pages of one report spell names differently.
        key: the name in one dialect, as in ``finding.Member``.
        launch: number of the kernel's first launch in the page, from 0.
        launches: launches of the kernel in the page.
        view: ``sass`` for instructions, ``source`` for lines of code with a line number.
        place: address, or file and line number.
        text: the instruction or line of code, without control characters and surrounding space.
        samples: warp samples at this line, over all of its launches.
        total: warp samples of the whole kernel.
        stall: what most of the line's samples waited for, named as the metrics ``stall_<name>``; "" unknown.
        stall_samples: samples with that reason.
        location: where the line stands, in the first launch that has it.
    """

    kernel: str
    key: str
    launch: int
    launches: int
    view: str
    place: str
    text: str
    samples: int
    total: int
    stall: str
    stall_samples: int
    location: Location

    @property
    def share(self) -> float:
        """Part of the kernel's samples at this line, 0 to 1."""
        return self.samples / self.total if self.total else 0.0


@dataclass(frozen=True)
class GpuSamples:
    """GPU metrics that nsys sampled on one device at a fixed rate (``nsys profile --gpu-metrics-devices``).

    Attributes:
        device: index of the device.
        times: ns on the capture's clock, ascending; a sample holds what was so since the one before it.
        values: name of the sampled metric (``catalog/gpu_samples.yaml``) -> value per time, SI units and fractions,
            NaN where the sample lacks it.
        names: name of the sampled metric -> how the file calls it.
        location: where the samples stand.
    """

    device: int
    times: npt.NDArray[np.float64]
    values: Mapping[str, npt.NDArray[np.float64]]
    names: Mapping[str, str]
    location: Location

    @property
    def frequency(self) -> float:
        """Samples per second; NaN for fewer than two."""
        steps = np.diff(self.times)
        return 1e9 / float(np.median(steps)) if len(steps) else float("nan")


@dataclass
class Table:
    """What a reader hands over: columns of equal length, before assembly into a profile.

    ``columns`` uses the names of ``ACTIVITY_COLUMNS`` and canonical metric names; columns the reader
    does not know are simply left out.
    """

    source: Source
    columns: dict[str, npt.NDArray[Any]]
    devices: Sequence[Device] = ()
    vendor: Sequence[VendorFinding] = ()
    hot_lines: Sequence[HotLine] = ()
    samples: Sequence[GpuSamples] = ()
    run: Run | None = None

    def __len__(self) -> int:
        return self.source.rows


@dataclass
class ReadResult:
    """All tables of one input and what went wrong in it.

    Attributes:
        alone: the error for an input that only describes what others hold (source and session pages), to be raised
            where no other input holds activities; None for inputs that stand for themselves.
    """

    tables: list[Table] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    alone: InputError | None = None


@dataclass(frozen=True)
class Profile:
    """Everything known about one program run: sources, activity frame, vendor advice, issues, samples.

    Attributes:
        clocks: device -> number of the clock its times are on; times of devices on different clocks cannot be
            compared. Empty where all are on one clock.
    """

    sources: tuple[Source, ...]
    activities: pd.DataFrame
    devices: tuple[Device, ...] = ()
    vendor: tuple[VendorFinding, ...] = ()
    issues: tuple[Issue, ...] = ()
    hot_lines: tuple[HotLine, ...] = ()
    samples: tuple[GpuSamples, ...] = ()
    clocks: Mapping[int, int] = field(default_factory=dict)

    def hot_lines_of(self, kernel: str) -> tuple[HotLine, ...]:
        """Hottest lines of a kernel, most samples first; empty where no input holds samples per line of it.

        Args:
            kernel: the name in one dialect, as in ``finding.Member.key``.
        """
        return tuple(sorted((line for line in self.hot_lines if line.key == kernel), key=lambda line: -line.samples))

    def to_pandas(self) -> pd.DataFrame:
        """A copy of the activities with units in the names of columns; see ``frames.activities_frame``."""
        return cast("pd.DataFrame", import_module("nsight_insight.frames").activities_frame(self))

    @property
    def plot(self) -> Plots:
        """Pictures: ``profile.plot.roofline()``, ``timeline``, ``stalls``, ``breakdown``."""
        from nsight_insight.model.plotting import Plots

        return Plots(self)

    def _repr_html_(self) -> str:
        from nsight_insight.model.notebook import profile_html

        return profile_html(self)

    def locate(self, row: int, column: str) -> Location:
        """The cell of the input that holds ``column`` of activity ``row`` (positional)."""
        frame = self.activities
        source = self.sources[int(frame["source"].to_numpy()[row])]
        line = int(frame["line"].to_numpy()[row])
        return source.locate(row - source.first_row, column, line)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Canonical metrics that at least one source holds, sorted."""
        return tuple(sorted({name for source in self.sources for name in source.columns}))
