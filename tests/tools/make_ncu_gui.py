"""Makes ``fixtures/ncu-gui/made-2025``: ``python -m tests.tools.make_ncu_gui``.

The Nsight Compute GUI cannot be run unattended, so its exports are imitated from the raw page of a real report: what
is imitated are the labels with units in brackets, two decimals, instances counted in braces, the byte order mark, the
transposed form, and the columns that only the GUI has (as published exports show them).
"""

from __future__ import annotations

import csv
import io
import re
from typing import Final

from tests.paths import FIXTURES

FOLDER: Final = FIXTURES / "ncu-gui/made-2025"
RAW: Final = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
BOM: Final = b"\xef\xbb\xbf"
FIXED: Final = {
    "Process": "[963] C:\\Users\\somebody\\a.exe", "Device Name": "NVIDIA H200", "Result Type": "Kernel: SIMT",
}  # fmt: skip
LAUNCHES: Final = 6


def shown(cell: str, name: str) -> str:
    """A cell as the GUI shows it: at most two decimals, groups, instances counted behind it."""
    try:
        value = float(cell.replace(",", ""))
    except ValueError:
        return cell
    text = f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"
    return f"{text} {{132}}" if "pcsamp" in name else text


def gui(launches: int) -> list[list[str]]:
    """Label and cells of the first launches, below each other."""
    with RAW.open(newline="", encoding="utf-8") as stream:
        headings, units, *rows = list(csv.reader(stream))
    rows = rows[:launches]
    names = [row[headings.index("Kernel Name")] for row in rows]
    table = [
        ["ID", *(row[0] for row in rows)],
        ["Function Name", *(re.split(r"[<(]", name)[0] for name in names)],
        ["Demangled Name", *(name[:24] + ".." for name in names)],
        ["Original Demangled Name", *names],
        *([label, *[cell] * launches] for label, cell in FIXED.items()),
    ]
    for place, heading in enumerate(headings):
        unit = units[place]
        if heading in ("Grid Size", "Block Size"):
            cells = [", ".join(f"{part.strip():>5}" for part in row[place].strip("()").split(",")) for row in rows]
            table.append([heading if heading[0] == "G" else "Block Size [block]", *cells])
        elif "__" in heading or heading.islower():
            cells = [shown(row[place], heading) for row in rows]
            table.append([f"{heading} [{unit}]" if unit else heading, *cells])
    return table


def as_shown(rows: list[list[str]]) -> list[list[str]]:
    """The same with a launch per row."""
    return [list(row) for row in zip(*rows, strict=True)]


def export(rows: list[list[str]], delimiter: str = ",") -> bytes:
    """The file that the GUI writes."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return BOM + out.getvalue().encode()


def files() -> dict[str, bytes]:
    """Name -> content of every fixture."""
    rows = gui(LAUNCHES)
    return {"raw-transposed.csv": export(rows), "raw.tsv": export(as_shown(rows), "\t")}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (FOLDER / name).write_bytes(content)
