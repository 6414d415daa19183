"""Warp samples per line of a kernel, added up over its launches: where its warps wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.catalog.names import normalize
from nsight_insight.model.issues import Location
from nsight_insight.model.profile import HotLine
from nsight_insight.model.text import clean

HOTTEST: Final = 5
"""Lines kept per kernel: they hold most of the samples, and no report shows more."""
_NOT_WAITING: Final = frozenset({"selected", "not_selected"})
"""States of warps that could issue, or just did: no reason to wait."""
_SHORT: Final = {
    "dispatch": "dispatch_stall",
    "imc": "imc_miss",
    "lg": "lg_throttle",
    "long_sb": "long_scoreboard",
    "math": "math_pipe_throttle",
    "mio": "mio_throttle",
    "no_inst": "no_instruction",
    "no_instructions": "no_instruction",
    "short_sb": "short_scoreboard",
    "sleep": "sleeping",
    "tex": "tex_throttle",
    "warpgroup_arrive": "gmma",
}
"""Names on the source page and of sampling metrics -> names of the metrics ``stall_<name>``."""


def stall_name(written: str) -> str:
    """The stall reason as the metrics ``stall_<name>`` call it."""
    return _SHORT.get(written, written)


@dataclass
class _Line:
    location: Location
    samples: int = 0
    stalls: Counter[str] = field(default_factory=Counter)


@dataclass
class _Kernel:
    launch: int
    launches: int = 0
    lines: dict[tuple[str, str, str], _Line] = field(default_factory=dict)


class HotLines:
    """Adds up launches and gives the hottest lines of every kernel."""

    def __init__(self) -> None:
        self._kernels: dict[str, _Kernel] = {}
        self._launches = 0

    def open_launch(self, kernel: str) -> None:
        """Begin the next launch of the page."""
        self._kernels.setdefault(kernel, _Kernel(self._launches)).launches += 1
        self._launches += 1

    def add(
        self, kernel: str, line: tuple[str, str, str], samples: int, stalls: Mapping[str, int], location: Location
    ) -> None:
        """Take one line of a launch: its view, place and text, and its samples by stall reason as written."""
        found = self._kernels[kernel].lines.setdefault(line, _Line(location))
        found.samples += samples
        for written, count in stalls.items():
            found.stalls[stall_name(written)] += count

    def finish(self) -> Iterator[HotLine]:
        """The hottest lines, kernel by kernel, most samples first; lines without a sample are left out."""
        for name, kernel in self._kernels.items():
            totals: Counter[str] = Counter()
            for (view, _, _), line in kernel.lines.items():
                totals[view] += line.samples
            hottest = sorted(kernel.lines.items(), key=lambda item: -item[1].samples)
            for (view, place, text), line in hottest[:HOTTEST]:
                if line.samples:
                    stall, count = _dominant(line.stalls)
                    yield HotLine(
                        name, normalize(name), kernel.launch, kernel.launches, view, place, clean(text).strip(),
                        line.samples, totals[view], stall, count, line.location,
                    )  # fmt: skip


def _dominant(stalls: Mapping[str, int]) -> tuple[str, int]:
    """The reason most samples waited for, "" when none of them waited."""
    waits = {name: count for name, count in stalls.items() if name not in _NOT_WAITING and count > 0}
    return max(waits.items(), key=lambda item: item[1], default=("", 0))
