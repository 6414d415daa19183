"""Cells of ncu's CSV files as the standard library's csv module finds them, to check the reader against."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.readers import ncu_csv
from nsight_insight.readers.text import open_path

_PER = ("", "/s", "/second", "/block", "/cycle", "/sector")
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SCALES = {
    **{f"{prefix}byte{per}": scale for prefix, scale in _PREFIXES.items() for per in _PER},
    **{f"{prefix}hz": scale for prefix, scale in _PREFIXES.items()},
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "%": 0.01,
}
TIMES = ("duration", "min", "avg", "median", "max")
SHAPES = tuple(f"{name}_{axis}" for name in ("grid", "block") for axis in "xyz")
IDENTITY = ("name", "cc", "nvtx", "thread", "correlation", "process", "context", "stream", "device")
OTHER_NAME = {"l1_throughput"}
"""The details page prints the share of active cycles only, the raw page that of elapsed cycles, too."""


@lru_cache(maxsize=128)
def read(path: Path) -> ReadResult:
    return ncu_csv.read(open_path(path))


def table(path: Path) -> Table:
    (only,) = read(path).tables
    return only


@lru_cache(maxsize=16)
def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


@lru_cache(maxsize=4096)
def cells(path: Path, number: int) -> list[str]:
    """The record that starts in a line."""
    return next(csv.reader([lines(path)[number - 1]]))


def records(path: Path) -> Iterator[dict[str, str]]:
    """Every record under the heading, by heading."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.reader(stream) if len(row) > 10]
    yield from (dict(zip(rows[0], row, strict=False)) for row in rows[1:])


def plain(text: str) -> float:
    """An en_US number, instances left off."""
    return float(text.partition(" (")[0].replace(",", ""))


def cell_at(path: Path, found: Table, row: int, column: str) -> tuple[str, str]:
    """Text and unit of the cell that ``locate`` points at."""
    place = found.source.locate(row, column, int(found.columns["line"][row]))
    assert place.line is not None
    assert place.column is not None
    record = cells(path, place.line)
    unit = cells(path, 2) if found.source.report == "raw" else record
    text, printed = record[place.column - 1], unit[place.column - 1 - (found.source.report != "raw")]
    # ncu scales cells with instances one by one, but prints the unit of the largest above them.
    counted = text.endswith(")") and "." not in text.partition(" (")[0]
    return text, printed.removeprefix("K") if counted else printed


def metrics_of(found: Table) -> list[str]:
    """Columns that are one printed cell per launch."""
    return [
        name
        for name, origins in found.source.columns.items()
        if name not in (*SHAPES, *IDENTITY) and not any(" + " in origin.field for origin in origins)
    ]


def scale_of(name: str, found: Table, unit: str) -> float:
    """From the printed number to the column's unit."""
    if name == "branch_uniformity" and unit == "branches":
        return 0.01  # ncu prints percent under a wrong unit
    scale = SCALES.get(unit, 1.0)
    return scale * 1e9 if name in TIMES else scale


def resolution(path: Path, found: Table, row: int, column: str) -> float:
    """Half of the last digit that was printed."""
    text, unit = cell_at(path, found, row, column)
    decimals = len(text.partition(" (")[0].partition(".")[2])
    return 0.5 * 10.0**-decimals * scale_of(column, found, unit) if decimals else 0.0
