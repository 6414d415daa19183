"""Metric and event tables of nvprof: one row per kernel, counters only, never times."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Final

import numpy as np

from nsight_insight.catalog.nvprof_metrics import NvprofMetric, load_nvprof_metrics
from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ColumnOrigin, Device, Source, Table
from nsight_insight.readers._nsys_columns import mapped
from nsight_insight.readers._nvprof_lines import Part
from nsight_insight.readers._nvprof_rows import DEVICE, report_name
from nsight_insight.readers._nvprof_tables import READER, bad_line_issues
from nsight_insight.readers._nvprof_values import EMPTY, quantity, whole

_AVERAGE: Final = "Avg"
_REPORT: Final = "nvprof-metrics"


class _Kernels:
    """The kernels of one table and, per kernel, the rows of its metrics."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.name_place = part.headings.index("Metric Name" if "Metric Name" in part.headings else "Event Name")
        self.count_place = part.headings.index("Invocations")
        self.rows: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row, group in enumerate(part.groups):
            self.rows[group].append(row)

    def metric(self, row: int) -> str:
        return self.part.rows[row][self.name_place].strip()

    def count(self, row: int) -> int:
        found = quantity(self.part.rows[row][self.count_place])
        return int(found.value) if found and whole(found.value) else -1


def metrics_table(part: Part, path: str) -> tuple[Table, list[Issue]]:
    """One row per kernel with the metrics that have an equal in the catalogue; the others are only listed."""
    kernels = _Kernels(part)
    groups = list(kernels.rows)
    firsts = [kernels.rows[group][0] for group in groups]
    lines = [part.numbers[row] for row in firsts]
    devices = [_device(device, Location(path, line)) for (device, _), line in zip(groups, lines, strict=True)]
    counts = np.array([kernels.count(row) for row in firsts], dtype=np.int64)
    columns = {
        "name": mapped([kernel for _, kernel in groups], str),
        "kind": np.full(len(groups), Kind.KERNEL.value, dtype=object),
        "count": counts,
        "device": np.array([device.index for device in devices], dtype=np.int64),
        "process": np.full(len(groups), part.process, dtype=np.int64),
        "line": np.array(lines, dtype=np.int64),
    }
    source = Source(path, READER, "nvprof", report_name(part), rows=len(groups), available=_names(kernels))
    table = Table(source, columns, list({device.index: device for device in reversed(devices)}.values()))
    issues = _add_metrics(table, kernels, counts) if "Metric Name" in part.headings else []
    return table, [*issues, *bad_line_issues(part, path)]


def _names(kernels: _Kernels) -> frozenset[str]:
    return frozenset(kernels.metric(row) for rows in kernels.rows.values() for row in rows)


def _device(text: str, location: Location) -> Device:
    found = DEVICE.fullmatch(text)
    return Device(int(found[2]) if found else -1, found[1] if found else text, location=location)


def _add_metrics(table: Table, kernels: _Kernels, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Issue]:
    """Columns of the metrics we know; sums are those of all launches of the row."""
    part, place = kernels.part, kernels.part.place(_AVERAGE)
    origins: dict[str, tuple[ColumnOrigin, ...]] = {}
    reasons: dict[str, np.ndarray[tuple[int], np.dtype[np.uint8]]] = {}
    issues: list[Issue] = []
    for name, known in load_nvprof_metrics().items():
        found = [next((r for r in rows if kernels.metric(r) == name), None) for rows in kernels.rows.values()]
        if place is None or all(row is None for row in found):
            continue
        values = np.full(len(found), np.nan)
        codes = np.full(len(found), Missing.ABSENT, dtype=np.uint8)
        for index, row in enumerate(found):
            if row is not None:
                values[index], codes[index] = _value(part.rows[row][place], known)
        lines = [
            line if row is None else part.numbers[row] for row, line in zip(found, table.columns["line"], strict=True)
        ]
        if known.metric.combine == "sum":
            values = values * np.where(counts > 0, counts, np.nan)
        table.columns[known.metric.name] = values
        columns = [0 if row is None else part.columns[row][place] for row in found]
        origins[known.metric.name] = (
            ColumnOrigin(name, None, "", np.array(lines, dtype=np.int64), np.array(columns, dtype=np.int64)),
        )
        if codes.any():
            reasons[known.metric.name] = codes
        issues += _impossible(codes, lines, known, table.source.path)
    table.source = replace(table.source, columns=origins, reasons=reasons)
    return issues


def _value(cell: str, known: NvprofMetric) -> tuple[float, Missing]:
    """The metric in canonical units, or why there is none."""
    found = quantity(cell)
    if found is None:
        return np.nan, Missing.EMPTY if cell.strip() in EMPTY else Missing.UNPARSABLE
    value = found.value * known.scale
    if known.metric.maximum is not None and value > known.metric.maximum:
        return np.nan, Missing.IMPOSSIBLE
    return value, Missing.PRESENT


def _impossible(
    codes: np.ndarray[tuple[int], np.dtype[np.uint8]], lines: list[int], known: NvprofMetric, path: str
) -> list[Issue]:
    rows = np.flatnonzero(codes == Missing.IMPOSSIBLE)
    if not len(rows):
        return []
    text = f"{_REPORT}: {known.name} is larger than it can be for {len(rows)} kernels; left out"
    return [Issue(Level.DATA_LOSS, text, Location(path, lines[int(rows[0])], field=known.name))]
