"""Small tables as ncu would print them, written without the product's code."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.readers import ncu_csv
from nsight_insight.readers.text import from_bytes

START = ["ID", "Process ID", "Process Name", "Host Name"]
NVTX = [
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
]
OLD = ["Kernel Name", "Kernel Time", "Context", "Stream"]
NEW = ["Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
METRIC = ["Section Name", "Metric Name", "Metric Unit", "Metric Value"]
BODY = ["Section Name", "Body Item Label", "Metric Name", "Metric Unit", "Metric Value"]
RULES = ["Rule Name", "Rule Type", "Rule Description"]
SPEEDUP = ["Estimated Speedup Type", "Estimated Speedup"]

HEADINGS = {
    "A0": [*START, *OLD, *METRIC],
    "A1": [*START, *OLD, *METRIC, *RULES],
    "B0": [*START, *NEW, *METRIC],
    "B1": [*START, *NEW, *METRIC, *RULES],
    "C": [*START, *NEW, *METRIC, *RULES, *SPEEDUP],
    "D": [*START, *NEW, *BODY, *RULES, *SPEEDUP],
    "A1+N": [*START, *NVTX, *OLD, *METRIC, *RULES],
    "C+N": [*START, *NVTX, *NEW, *METRIC, *RULES, *SPEEDUP],
    "reduced": ["ID", "Process ID", "Kernel Name", *METRIC],
}
"""Generations of headings of the details page."""
SOL = "GPU Speed Of Light Throughput"
CELLS = {
    "Process ID": "963",
    "Process Name": "python3",
    "Host Name": "127.0.0.1",
    "Kernel Name": "k(int)",
    "Kernel Time": "2023-Feb-26 16:22:37",
    "Context": "1",
    "Stream": "7",
    "Block Size": "(128, 1, 1)",
    "Grid Size": "(4, 2, 1)",
    "Device": "0",
    "CC": "9.0",
    NVTX[0]: '963  "<default domain>:step 1:none:none:none:none:none:none" ',
    "Section Name": "Command line profiler metrics",
}


def line(cells: Iterable[object]) -> str:
    """One record, every cell quoted."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="").writerow(cells)
    return out.getvalue()


@dataclass
class Long:
    """A details page."""

    generation: str = "C"
    changes: Mapping[str, str] = field(default_factory=dict)

    @property
    def headings(self) -> list[str]:
        return HEADINGS[self.generation]

    @property
    def heading(self) -> str:
        return line(self.headings)

    def metric(self, launch: int, name: str, unit: str, value: str, **changes: str) -> str:
        """A metric row: cut behind the value, with a trailing comma where the page has rule columns."""
        cells = self._cells(launch, {"Metric Name": name, "Metric Unit": unit, "Metric Value": value, **changes})
        place = self.headings.index("Metric Value") + 1
        return line(cells[:place]) + ("," if place < len(cells) else "")

    def rule(self, launch: int, **changes: str) -> str:
        """A rule row: full width, empty metric cells."""
        return line(self._cells(launch, changes))

    def _cells(self, launch: int, changes: Mapping[str, str]) -> list[str]:
        cells = {**CELLS, "ID": str(launch), **self.changes, **changes}
        return [cells.get(heading, "") for heading in self.headings]


def wide(
    metrics: Mapping[str, Sequence[str]], units: Mapping[str, str] | None, changes: Mapping[str, str] | None = None
) -> str:
    """A raw page: metric name -> cell per launch; no row of units when ``units`` is None."""
    identity = [*START, *NEW]
    rows = [line([*identity, *metrics])]
    if units is not None:
        rows.append(line([""] * len(identity) + [units.get(name, "") for name in metrics]))
    for launch, values in enumerate(zip(*metrics.values(), strict=True)):
        cells = {**CELLS, "ID": str(launch), **(changes or {})}
        rows.append(line([*(cells[heading] for heading in identity), *values]))
    return "\n".join(rows) + "\n"


def read(*lines: str) -> ReadResult:
    """What the reader makes of lines."""
    return ncu_csv.read(from_bytes("t.csv", "\n".join([*lines, ""]).encode()))


def table(*lines: str) -> Table:
    """The only table of lines that are read without loss."""
    result = read(*lines)
    assert len(result.tables) == 1, result
    assert not result.issues, result.issues
    return result.tables[0]


DURATION = "gpu__time_duration.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
CLOCK = "gpc__cycles_elapsed.avg.per_second"
PAGE = Long("B0")
ONE = (PAGE.heading, PAGE.metric(0, DURATION, "ns", "2,720"))
"""A whole table of one launch."""
