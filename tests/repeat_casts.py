"""The autocast trace as a run that casts weights to 16 bits several times per step.

Made from the real trace: in every step, for each size of parameter (grid of the optimizer's ``addcdiv``), the first
casts of that size, as many as there are parameters, are run again, as autocast does when its region is entered anew
for every micro-batch. What each row says stays as nsys wrote it but the start, which is moved behind the original.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from tests.paths import FIXTURES

TRACE = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_trace.csv"
STEP_END = "amp_update_scale_cuda_kernel"
Row = dict[str, str]


def repeated_casts(target: Path, times: int) -> int:
    """Write the trace with every weight cast ``times`` per step; returns the duration in ns of the added casts."""
    with TRACE.open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle)
        rows, fields = list(reader), list(reader.fieldnames or ())
    added = [_again(row, number) for row in _first_casts(rows) for number in range(1, times)]
    everything = sorted([*rows, *added], key=lambda row: int(row["Start (ns)"]))
    with target.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(everything)
    return sum(int(row["Duration (ns)"]) for row in added)


def _first_casts(rows: list[Row]) -> list[Row]:
    """Per step and size as many casts as there are parameters, or none where there are fewer casts."""
    found: list[Row] = []
    step: list[Row] = []
    for row in rows:
        step.append(row)
        if STEP_END in row["Name"]:
            found += _casts_of_step(step)
            step = []
    return found


def _casts_of_step(step: list[Row]) -> list[Row]:
    parameters = Counter(row["GrdX"] for row in step if "addcdiv" in row["Name"])
    found: list[Row] = []
    for size, number in parameters.items():
        casts = [row for row in step if row["GrdX"] == size and "float16_copy_kernel_cuda" in row["Name"]]
        found += casts[:number] if len(casts) >= number else []
    return found


def _again(row: Row, number: int) -> Row:
    return {**row, "Start (ns)": str(int(row["Start (ns)"]) + number)}
