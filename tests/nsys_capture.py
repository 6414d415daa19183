"""A made-up program run and the reports ``nsys stats`` would print of it, written without the product's code."""

from __future__ import annotations

import csv
import io
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

STATISTICS = ("Avg", "Med", "Min", "Max", "StdDev")
SUMMARY = ["Time (%)", "Total Time ({u})", "{count}", *(f"{word} ({{u}})" for word in STATISTICS)]
TRACE = [
    "Start (ns)", "Duration (ns)", "CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd",
    "StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)", "SrcMemKd", "DstMemKd", "Device", "Ctx",
    "GreenCtx", "Strm", "Name",
]  # fmt: skip

Item = TypeVar("Item")


@dataclass(frozen=True)
class Launch:
    """One kernel launch, or one copy or set when ``size`` is given."""

    name: str
    start: int
    duration: int
    grid: int = 1
    size: int | None = None
    api: int = 5000


@dataclass(frozen=True)
class Capture:
    """Everything that happened in one process, and what nsys prints of it."""

    launches: tuple[Launch, ...]
    process: int = 1
    gpu: str = "NVIDIA H200 (0)"

    @property
    def kernels(self) -> list[Launch]:
        return [launch for launch in self.launches if launch.size is None]

    @property
    def memory(self) -> list[Launch]:
        return [launch for launch in self.launches if launch.size is not None]

    def kern_sum(self, unit: str = "ns") -> str:
        return summary(self.kernels, lambda k: (k.name,), ["Name"], "Instances", unit)

    def kern_sum_base(self) -> str:
        return summary(self.kernels, lambda k: (k.name.partition("<")[0],), ["Name"], "Instances")

    def kern_gb_sum(self) -> str:
        return summary(
            self.kernels,
            lambda k: (f"{k.grid:4d}    1    1", "  32    1    1", k.name),
            ["GridXYZ", "BlockXYZ", "Name"],
            "Instances",
        )

    def gpu_sum(self) -> str:
        return summary(self.launches, lambda k: (_category(k), k.name), ["Category", "Operation"], "Instances")

    def mem_time_sum(self) -> str:
        return summary(self.memory, lambda k: (k.name,), ["Operation"], "Count")

    def mem_size_sum(self) -> str:
        groups: dict[str, list[int]] = defaultdict(list)
        for launch in self.memory:
            groups[launch.name].append(launch.size or 0)
        heading = ["Total (MB)", "Count", *(f"{word} (MB)" for word in ("Avg", "Med", "Min", "Max", "StdDev"))]
        rows = [
            [f"{sum(sizes) / 1e6:.3f}", len(sizes), *["0.000"] * 5, name]
            for name, sizes in sorted(groups.items(), key=lambda item: -sum(item[1]))
        ]
        return write([*heading, "Operation"], rows)

    def api_sum(self) -> str:
        return summary(self.kernels, lambda _: ("cudaLaunchKernel",), ["Name"], "Num Calls", times=lambda k: k.api)

    def api_trace(self) -> str:
        heading = ["Start (ns)", "Duration (ns)", "Name", "Result", "CorrID", "Pid", "Tid", "T-Pri", "Thread Name"]
        rows = [
            [k.start - k.api, k.api, "cudaLaunchKernel_v7000", 0, i, self.process, 1, 20, "t"]
            for i, k in enumerate(self.kernels)
        ]
        return write(heading, rows)

    def exec_trace(self) -> str:
        heading = [
            "API Start (ns)", "API Dur (ns)", "Queue Start (ns)", "Queue Dur (ns)", "Kernel Start (ns)",
            "Kernel Dur (ns)", "Total Dur (ns)", "PID", "TID", "DevId", "API Function", "GridXYZ", "BlockXYZ",
            "Kernel Name",
        ]  # fmt: skip
        rows = [
            [k.start - k.api, k.api, "", "", k.start, k.duration, k.api + k.duration, self.process, 1, 0,
             "cudaLaunchKernel", f"{k.grid:4d}    1    1", "  32    1    1", k.name]
            for k in self.kernels
        ]  # fmt: skip
        return write(heading, rows)

    def gpu_trace(self) -> str:
        rows = []
        for i, k in enumerate(self.launches):
            if k.size is None:
                cells = [k.grid, 1, 1, 32, 1, 1, 16, "0.000", "0.000", "", "", "", ""]
            else:
                speed = f"{k.size * (10**9 // k.duration) / 1e6:.3f}"
                cells = [""] * 9 + [f"{k.size / 1e6:.3f}", speed, "Pageable", "Device"]
            rows.append([k.start, k.duration, i, *cells, self.gpu, 1, "", 7, k.name])
        return write(TRACE, rows)

    def nvtx_kern_sum(self, ranges: Sequence[str]) -> str:
        """Every kernel inside all of ``ranges``, one in the other."""
        heading = ["NVTX Range", "Style", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)", "Kernel Name"]
        groups = grouped(self.kernels, lambda k: (k.name,))
        rows = [
            [name, "PushPop", self.process, 1, 1, len(times), sum(times), kernel]
            for name in ranges
            for (kernel,), times in groups.items()
        ]
        return write(heading, rows)

    def without_last(self, number: int) -> Capture:
        """What a report sees that lost the last launches."""
        return Capture(self.launches[: max(len(self.launches) - number, 0)], self.process, self.gpu)


def _category(launch: Launch) -> str:
    return "CUDA_KERNEL" if launch.size is None else "MEMORY_OPER"


def grouped(
    launches: Iterable[Launch], key: Callable[[Launch], tuple[str, ...]], times: Callable[[Launch], int] | None = None
) -> dict[tuple[str, ...], list[int]]:
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for launch in launches:
        groups[key(launch)].append(times(launch) if times else launch.duration)
    return dict(sorted(groups.items(), key=lambda item: -sum(item[1])))


def summary(
    launches: Iterable[Launch],
    key: Callable[[Launch], tuple[str, ...]],
    names: list[str],
    count: str,
    unit: str = "ns",
    times: Callable[[Launch], int] | None = None,
) -> str:
    groups = grouped(launches, key, times)
    total = sum(map(sum, groups.values())) or 1
    rows = []
    for group, durations in groups.items():
        deviation = statistics.stdev(durations) if len(durations) > 1 else 0.0
        whole = (sum(durations), min(durations), max(durations))
        mean = (statistics.fmean(durations), statistics.median(durations), deviation)
        if unit == "ms":
            total_text, low, high = (f"{value / 1e6:.4f}" for value in whole)
            average, median, spread = (f"{value / 1e6:.4f}" for value in mean)
        else:
            total_text, low, high = map(str, whole)
            average, median, spread = (f"{value:.1f}" for value in mean)
        share = f"{100 * sum(durations) / total:.1f}"
        rows.append([share, total_text, len(durations), average, median, low, high, spread, *group])
    return write([cell.format(u=unit, count=count) for cell in SUMMARY] + names, rows)


def write(heading: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([heading, *rows])
    return file.getvalue()


def records(text: str) -> tuple[str, list[str]]:
    """Heading and rows of a report without line ends in its cells."""
    heading, *rows = text.splitlines()
    return heading, rows


def shuffled(items: Sequence[Item], seed: int) -> list[Item]:
    """The items in an order that the seed decides."""
    return random.Random(seed).sample(items, len(items))  # noqa: S311


def split(text: str, at: int) -> list[str]:
    """A report over two files, each with the heading; one file where there is nothing to split off."""
    heading, rows = records(text)
    parts = [part for part in (rows[:at], rows[at:]) if part]
    return ["\n".join([heading, *part]) + "\n" for part in parts]
