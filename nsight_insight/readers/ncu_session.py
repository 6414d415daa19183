"""The session page of ncu, as CSV or as text: which GPUs, and which version of the tool.

It describes the run and no launch of it, so it is read beside other inputs. Command line, host, addresses, processes
and users, which it holds as well, are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from nsight_insight.catalog.metrics import load_attributes
from nsight_insight.errors import UnrecognizedInput
from nsight_insight.model.issues import Location
from nsight_insight.model.numbers import read_count
from nsight_insight.model.profile import Device, ReadResult, Source, Table
from nsight_insight.readers._ncu_layout import fields
from nsight_insight.readers._ncu_table import dram_bandwidth
from nsight_insight.readers._ncu_text_lines import cells_of, dashes_of
from nsight_insight.readers.text import SourceText

NAME: Final = "ncu_session"
REPORT: Final = "session"
_CERTAIN: Final = 0.9
_HEADINGS: Final = ("Launch Attribute", "Session Attribute", "Device Attribute")
_STARTS: Final = tuple(start for heading in _HEADINGS for start in (f'"{heading}",', f"{heading} "))
_DEVICES: Final = "Device Attribute"
_DEVICE: Final = re.compile(r"Device (\d{1,4})")
_TOOL: Final = "Nsight Compute Target"
_VERSION: Final = re.compile(r"(20\d\d\.\d{1,2}\.\d{1,2})\b")
_PREFIX: Final = "device__attribute_"
_ALONE: Final = (
    "ncu's session page describes the run, not its launches: give the report's raw page, too "
    "(ncu --import REPORT --csv --page raw)"
)

_Row = tuple[int, list[str]]


def sniff(text: SourceText) -> float:
    """0.9 where the heading of one of its tables is among the first lines."""
    return _CERTAIN if any(line.startswith(_STARTS) for line in text.head) else 0.0


def read(text: SourceText) -> ReadResult:
    """Devices and tool version; the page holds no activities.

    Raises:
        UnrecognizedInput: no session page.
    """
    tables = _tables(text.lines)
    if not tables:
        raise UnrecognizedInput(f"no session page of ncu ({text.describe()})", path=text.path, line=1)
    version = next((cells[1] for rows in tables.values() for _, cells in rows if cells[0] == _TOOL), "")
    found = _VERSION.match(version)
    source = Source(text.path, NAME, "ncu", REPORT, version=found[1] if found else "")
    table = Table(source, {}, list(_devices(tables.get(_DEVICES, []), text.path)))
    return ReadResult([table], list(text.issues), UnrecognizedInput(_ALONE, path=text.path, line=1))


def _rows(lines: Sequence[str]) -> Iterator[_Row]:
    """Lines of at least two cells, quoted or in columns below dashes."""
    spans: list[tuple[int, int]] = []
    for number, line in enumerate(lines, 1):
        if found := dashes_of(line):
            spans = found
        elif line.startswith('"'):
            yield number, fields(line) or [""]
        elif spans and line.strip():
            yield number, [cell.text for cell in cells_of(line, spans) or ()] or [""]
        else:
            spans = []


def _is_heading(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and cells[0] in _HEADINGS


def _tables(lines: Sequence[str]) -> dict[str, list[_Row]]:
    """First heading of each table -> its rows, the heading among them."""
    tables: dict[str, list[_Row]] = {}
    rows: list[_Row] | None = None
    for number, cells in _rows(lines):
        if _is_heading(cells):
            rows = tables.setdefault(cells[0], [])
        if rows is not None and len(cells) > 1:
            rows.append((number, cells))
    return tables


def _devices(rows: Sequence[_Row], path: str) -> Iterator[Device]:
    """One device per column of the table of attributes."""
    if not rows:
        return
    number, headings = rows[0]
    for place, heading in enumerate(headings):
        if found := _DEVICE.fullmatch(heading):
            values = {cells[0]: cells[place] for _, cells in rows[1:] if place < len(cells)}
            yield _device(int(found[1]), values, Location(path, number, place + 1, heading))


def _device(index: int, values: Mapping[str, str], location: Location) -> Device:
    numbers = {name: _number(name, values) for name in ("cc_major", "cc_minor", "sm_count", "max_sm_clock",
                                                        "max_memory_clock", "memory_bus_width")}  # fmt: skip
    major, minor, sm_count = numbers["cc_major"], numbers["cc_minor"], numbers["sm_count"]
    return Device(
        index,
        next((values[name] for name in _names("gpu_name") if values.get(name)), ""),
        None if major is None or minor is None else major + minor / 10,
        None if sm_count is None else int(sm_count),
        numbers["max_sm_clock"],
        dram_bandwidth(numbers["max_memory_clock"], numbers["memory_bus_width"]),
        location,
    )


def _names(attribute: str) -> list[str]:
    return [name.removeprefix(_PREFIX) for name in load_attributes()[attribute].metrics]


def _number(attribute: str, values: Mapping[str, str]) -> float | None:
    for name in _names(attribute):
        count = read_count(values.get(name, ""))
        if count is not None:
            return count * load_attributes()[attribute].scale
    return None
