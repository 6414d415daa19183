"""Launches and kernel time of a file by the shortest way there is: a second opinion on the readers.

Nothing of the package is used here. What these few lines cannot count is left out, not guessed.
"""

from __future__ import annotations

import csv
import io
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

Count = tuple[int, float]
"""Launches and nanoseconds."""

_SCALE = {"ns": 1.0, "nsecond": 1.0, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9}
_DURATION = "gpu__time_duration.sum"
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})*(?:\.\d+)?|\d+(?:\.\d+)?")
csv.field_size_limit(1 << 30)


def independent_count(path: Path) -> Count | None:
    """The count by the first way that works; None where none does."""
    data = path.read_bytes()
    if data.startswith(b"SQLite format 3"):
        return database(path)
    text = _text(data)
    ways: tuple[Callable[[str], Count | None], ...] = (
        ncu_raw, ncu_details, nsys_csv, nsys_columns, nvprof_trace, nvprof_summary, ncu_text,
    )  # fmt: skip
    return next((found for way in ways if (found := way(text))), None)


def _text(data: bytes) -> str:
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data.decode(encoding, errors="replace")


def database(path: Path) -> Count | None:
    """Kernels, and graphs that were traced as a whole."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        total, time = 0, 0.0
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"):
            try:
                [(number, spent)] = connection.execute(f'SELECT COUNT(*), SUM("end" - "start") FROM {table}')
            except sqlite3.Error:
                continue
            total, time = total + number, time + (spent or 0)
        return (total, float(time)) if total else None
    finally:
        connection.close()


_FOREIGN = re.compile(r"-?\d+,\d{1,2}|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d+,\d{4,}|-?0,\d+")
"""Numbers that are not in C notation, whatever stands around them."""


def _number(cell: str) -> float | None:
    """A number in C notation, with or without thousands separated by commas."""
    text = cell.strip()
    return float(text.replace(",", "")) if _GROUPED.fullmatch(text) else None


def _records(text: str, heading: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Tables of quoted CSV whose heading holds a word, each with its records."""
    lines = text.splitlines()
    starts = [place for place, line in enumerate(lines) if heading in line and '"ID"' in line]
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else len(lines)
        rows = list(csv.reader(io.StringIO("\n".join(line for line in lines[start:end] if line.startswith('"')))))
        yield rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]


def ncu_raw(text: str) -> Count | None:
    """Rows of raw pages, and their durations where these are in C notation."""
    launches, time = 0, 0.0
    for heading, rows in _records(text, _DURATION):
        place = heading.index(_DURATION) if _DURATION in heading else -1
        if place < 0 or "Metric Name" in heading or not rows or rows[0][0]:
            return None
        if any(_FOREIGN.fullmatch(cell) for row in rows[1:] for cell in row):
            return None
        scale = _SCALE.get(rows[0][place])
        values = [_number(row[place]) for row in rows[1:]]
        if scale is None or None in values:
            return None
        launches, time = launches + len(values), time + scale * sum(value or 0.0 for value in values)
    return (launches, time) if launches else None


def ncu_details(text: str) -> Count | None:
    """Launches of details pages and their durations, by metric name or by the label of Speed Of Light."""
    launches, time = 0, 0.0
    for heading, rows in _records(text, "Metric Value"):
        if not {"ID", "Metric Name", "Metric Unit", "Metric Value"} <= set(heading):
            return None
        name, unit, value = (heading.index(f"Metric {what}") for what in ("Name", "Unit", "Value"))
        if any(_FOREIGN.fullmatch(row[value]) for row in rows):
            return None
        key = [heading.index(what) for what in ("ID", "Process ID") if what in heading]
        found = {tuple(row[at] for at in key): row for row in rows if row[name] in (_DURATION, "Duration")}
        numbers = [(_number(row[value]), _SCALE.get(row[unit])) for row in found.values()]
        if any(number is None or scale is None for number, scale in numbers):
            return None
        if len(found) != len({tuple(row[at] for at in key) for row in rows}):
            return None
        launches, time = launches + len(found), time + sum((n or 0.0) * (s or 0.0) for n, s in numbers)
    return (launches, time) if launches else None


_NO_KERNELS = {"Style", "Range", "Source"}
"""Headings of summaries of NVTX ranges and MPI calls."""


def nsys_csv(text: str) -> Count | None:
    """The first kernel summary or GPU trace of nsys in the text."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        cells = next(csv.reader([line]), [])
        if "Instances" in cells and cells[-1] in ("Name", "Kernel Name") and not _NO_KERNELS & set(cells):
            return _summed(_until_blank(lines, start), cells, "Total Time", "Instances")
        if any(cell.startswith("GrdX") for cell in cells):
            kernels = [row for row in _until_blank(lines, start) if row[cells.index("GrdX")].strip().isdigit()]
            return _summed(kernels, cells, "Duration", "")
    return None


def _until_blank(lines: list[str], start: int) -> list[list[str]]:
    width = len(next(csv.reader([lines[start]])))
    rows = []
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        cells = next(csv.reader([line]), [])
        rows += [cells] if len(cells) == width else []
    return rows


def _summed(rows: list[list[str]], heading: list[str], time: str, number: str) -> Count | None:
    place = next((at for at, cell in enumerate(heading) if cell.startswith(time)), -1)
    unit = re.search(r"\((\w+)\)", heading[place])
    counts = [_number(row[heading.index(number)]) if number else 1.0 for row in rows]
    times = [_number(row[place]) for row in rows]
    if place < 0 or not rows or None in counts or None in times:
        return None
    return int(sum(c or 0.0 for c in counts)), sum(t or 0.0 for t in times) * _SCALE[unit[1] if unit else "ns"]


_COLUMNS = re.compile(r"\s*Time ?\(%\)\s+Total Time(?: \((\w+)\))?\s+Instances\s.*\bName\s*")
_SPACED = re.compile("\\d[\u00a0\u202f]\\d")
"""Thousands separated by a kind of blank."""
_ROW = re.compile(r"\s*[\d.,]+\s+([\d.,]+)\s+([\d.,]+)\s+[\d.,]+\s")


def nsys_columns(text: str) -> Count | None:
    """Kernel summaries that nsys printed in columns, all of a text; times are whole nanoseconds there."""
    launches, time = 0, 0.0
    if _SPACED.search(text):
        return None
    lines = text.splitlines()
    for start, line in enumerate(lines):
        found = _COLUMNS.fullmatch(line)
        if not found or (found[1] or "ns") != "ns" or "Style" in line or "Range" in line:
            continue
        dashes = set(lines[start + 1].strip()) <= {" ", "-"}
        for row in lines[start + 1 + dashes :]:
            cells = _ROW.match(row)
            if not cells:
                break
            total, number = (int(re.sub(r"[.,]", "", cell)) for cell in cells.groups())
            launches, time = launches + number, time + total
    return (launches, time) if launches else None


_SIZE = r"\(\d+ \d+ \d+\)"
_TRACE_ROW = re.compile(rf"\s*[\d.]+[mun]?s\s+([\d.]+)(ns|us|ms|s)\s+{_SIZE}\s+{_SIZE}\s")
_SUMMARY_ROW = re.compile(
    r"\s*(?:GPU activities:)?\s*[\d.]+%\s+([\d.]+)(ns|us|ms|s)\s+(\d+)\s+[\d.]+\w+\s+[\d.]+\w+\s+[\d.]+\w+\s+(.*)"
)


def nvprof_trace(text: str) -> Count | None:
    """Kernels of nvprof's GPU trace: rows with a grid and a block."""
    found = [row for line in text.splitlines() if (row := _TRACE_ROW.match(line))]
    return (len(found), sum(float(row[1]) * _SCALE[row[2]] for row in found)) if found else None


def nvprof_summary(text: str) -> Count | None:
    """Kernels of nvprof's summaries: rows of GPU activities that are no copies, those per NVTX range left out."""
    launches, time, gpu, ranges = 0, 0.0, False, False
    for line in text.splitlines():
        if line.startswith("==") and " result:" in line:
            ranges = "NVTX" in line
        gpu = ("GPU activities:" in line or gpu) and "API calls:" not in line and not line.startswith("==")
        row = _SUMMARY_ROW.match(line) if gpu and not ranges else None
        if row and not row[4].startswith("[CUDA"):
            launches, time = launches + int(row[3]), time + float(row[1]) * _SCALE[row[2]]
    return (launches, time) if launches else None


_LAUNCH = re.compile(r"\s{2}\S.*, Context \d+, Stream \d+(?:, Device \d+, CC [\d.]+)?\s*")
_TIME = re.compile(r"\s+(?:Duration|gpu__time_duration\.sum)\s+([mun]?second|[mun]?s)\s+([\d.,]+)\s*")


def ncu_text(text: str) -> Count | None:
    """Launches that ncu printed as text, where each has one duration in C notation."""
    launches, times, open_ = 0, [], False
    for line in text.splitlines():
        if _LAUNCH.fullmatch(line):
            launches, open_ = launches + 1, True
        elif open_ and (found := _TIME.fullmatch(line)):
            number = None if _FOREIGN.fullmatch(found[2]) else _number(found[2])
            if number is None:
                return None
            times.append(number * _SCALE[found[1]])
            open_ = False
    return (launches, sum(times)) if launches and launches == len(times) else None
