"""Small text pages as ncu prints them, written without the product's code."""

from __future__ import annotations

from collections.abc import Sequence

from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.readers import ncu_text
from nsight_insight.readers.text import from_bytes

SOL = "GPU Speed Of Light Throughput"
KERNEL = "void k<(int)1>(float *, T1)"
NEW = f"  {KERNEL} (4, 2, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 9.0"
OLD = f"  {KERNEL}, 2022-Dec-04 20:05:20, Context 1, Stream 7"
PROCESS = "[963] python3@127.0.0.1"
Row = tuple[str, str, str]
ROWS: Sequence[Row] = (
    ("SM Frequency", "Ghz", "1.95"),
    ("Duration", "us", "2.94"),
    ("Elapsed Cycles", "cycle", "5,760"),
    ("Compute (SM) Throughput", "%", "12.50"),
)


def section(rows: Sequence[Row] = ROWS, title: str = SOL) -> list[str]:
    """A section of 2024 and later: columns as wide as their widest cell, a row of headings."""
    body = [("Metric Name", "Metric Unit", "Metric Value"), *rows]
    widths = [max(len(row[place]) for row in body) for place in range(3)]
    dashes = "    " + " ".join("-" * width for width in widths)
    lines = ["    " + f"{a:<{widths[0]}} {b:>{widths[1]}} {c:>{widths[2]}}" for a, b, c in body]
    return [f"    Section: {title}", dashes, lines[0], dashes, *lines[1:], dashes, ""]


def fixed(rows: Sequence[Row] = ROWS, title: str = SOL) -> list[str]:
    """A section of 2019 to 2022: 120 columns, no headings."""
    dashes = "    " + " ".join("-" * width for width in (70, 15, 30))
    lines = [f"    {a:<70} {b:>15} {c:>30}" for a, b, c in rows]
    return [f"    Section: {title}", dashes, *lines, dashes]


def raw(rows: Sequence[Row]) -> list[str]:
    """The raw page: metric names, no closing dashes."""
    dashes = "  " + " ".join("-" * width for width in (72, 15, 20))
    lines = [f"  {a:<72} {b:>15} {c:>20}" for a, b, c in (("Metric Name", "Metric Unit", "Metric Value"), *rows)]
    return [lines[0], dashes, *lines[1:], ""]


def rule(kind: str, *lines: str) -> list[str]:
    """A rule result, wrapped by hand and padded as ncu does."""
    first, *rest = lines
    return [f"    {kind:<5} {first}".ljust(120), *(f"          {line}".ljust(120) for line in rest)]


def read(*lines: str, encoding: str = "utf-8") -> ReadResult:
    """What the reader makes of lines."""
    return ncu_text.read(from_bytes("t.txt", "\n".join([*lines, ""]).encode(encoding)))


def table(*lines: str) -> Table:
    """The only table of lines that are read without loss."""
    result = read(*lines)
    assert len(result.tables) == 1, result
    assert not result.issues, result.issues
    return result.tables[0]
