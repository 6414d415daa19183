"""A table that the Nsight Compute GUI exported, as a ``Page``; launches stand in rows or in columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import ColumnOrigin
from nsight_insight.readers._ncu_layout import BLOCK, CONTEXT, DEVICE, GRID, ID, NAME, PROCESS, RAW, STREAM
from nsight_insight.readers._ncu_page import Page, Printed, wanted_metrics

FUNCTION, DEMANGLED, ORIGINAL, MANGLED = "Function Name", "Demangled Name", "Original Demangled Name", "Mangled Name"
MARKS: Final = ("Grid Size", "Device Name", "Result Type", "Duration")
"""Labels of which an export has at least one, beside a name of the kernel."""
_RESULT: Final = "Result Type"
_UNIT: Final = re.compile(r"(?P<label>.*?)(?: \[(?P<unit>[^\[\]]*)\])?", re.DOTALL)
_INSTANCES: Final = re.compile(r"\s*\{[0-9]+\}$")
_LABELS: Final = {
    PROCESS: "Process",
    CONTEXT: "launch__context_id",
    STREAM: "launch__stream_id",
    DEVICE: "device__attribute_device_index",
}
_PROCESS_ID: Final = re.compile(r"\s*\[([0-9]{1,10})\]")
_CUT: Final = ".."
_SUMMARY: Final = {
    "Duration": "gpu__time_duration.sum",
    "Compute Throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "Memory Throughput": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "# Registers": "launch__registers_per_thread",
    "Cycles": "gpc__cycles_elapsed.max",
    "Device Name": "device__attribute_display_name",
}
"""Columns of the summary page that are metrics under another name."""


@dataclass(frozen=True)
class GuiCell:
    """One cell and where it stands, from 1."""

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class Field:
    """One label of the export with its cell per launch."""

    heading: str
    cells: Sequence[GuiCell]

    @property
    def label(self) -> str:
        """The heading without its unit."""
        found = _UNIT.fullmatch(self.heading)
        return found["label"].strip() if found else self.heading

    @property
    def unit(self) -> str:
        """The unit in brackets behind the label."""
        found = _UNIT.fullmatch(self.heading)
        return (found["unit"] or "") if found else ""


def page_of(fields: Sequence[Field], line: int) -> Page:
    """The page of an export.

    Args:
        fields: its labels; every one has a cell for every launch.
        line: where the table begins.
    """
    by_label = {field.label: field for field in reversed(fields)}
    launches = len(fields[0].cells)
    texts = dict(_texts(by_label, launches))
    names = [field for label in (ORIGINAL, MANGLED, DEMANGLED, FUNCTION) if (field := by_label.get(label))]
    origins = {NAME: _origin(names[0])} if names else {}
    places = {heading: by_label.get(_LABELS.get(heading, heading)) for heading in texts}
    origins |= {heading: _origin(field) for heading, field in places.items() if field}
    return Page(
        RAW, line, _lines(fields, launches), texts, origins, dict(_printed(fields)),
        frozenset(field.label for field in fields),
        evidence=[_number(cell.text) for field in fields for cell in field.cells if "__" in field.heading],
        kinds=[_kind(cell.text) for cell in by_label[_RESULT].cells] if _RESULT in by_label else (),
    )  # fmt: skip


def _lines(fields: Sequence[Field], launches: int) -> list[int]:
    return [fields[0].cells[launch].line for launch in range(launches)]


def _texts(by_label: dict[str, Field], launches: int) -> Iterator[tuple[str, list[str]]]:
    """Identity cells in the form that the CSV pages have them."""
    yield NAME, [_name(by_label, launch) for launch in range(launches)]
    forms: dict[str, Callable[[str], str]] = {PROCESS: _process, GRID: _shape, BLOCK: _shape}
    forms |= dict.fromkeys((ID, CONTEXT, STREAM, DEVICE), str.strip)
    for heading, form in forms.items():
        if field := by_label.get(_LABELS.get(heading, heading)):
            yield heading, [form(cell.text) for cell in field.cells]


def _name(by_label: dict[str, Field], launch: int) -> str:
    """The fullest name: the GUI cuts what it shows, and adds the original where it did."""
    texts = {label: by_label[label].cells[launch].text.strip() for label in (ORIGINAL, MANGLED, DEMANGLED, FUNCTION)
             if label in by_label}  # fmt: skip
    whole = (texts.get(ORIGINAL, ""), texts.get(MANGLED, ""), texts.get(DEMANGLED, ""))
    return next((name for name in whole if name and not name.endswith(_CUT)), texts.get(FUNCTION, ""))


def _process(cell: str) -> str:
    found = _PROCESS_ID.match(cell)
    return found[1] if found else ""


def _shape(cell: str) -> str:
    """``   64,   64,    1`` as ``(64, 64, 1)``; the GUI pads what it shows."""
    return f"({', '.join(part.strip() for part in cell.split(','))})"


def _kind(cell: str) -> str:
    """``Kernel: SIMT``, ``Range``, ``Graph``."""
    words = cell.strip().lower()
    return next((kind.value for kind in (Kind.RANGE, Kind.GRAPH) if words.startswith(kind.value)), Kind.KERNEL.value)


def _printed(fields: Sequence[Field]) -> Iterator[tuple[str, list[Printed]]]:
    known = {field.label for field in fields}
    for field in fields:
        metric = _SUMMARY.get(field.label, field.label)
        if metric not in wanted_metrics() or (metric != field.label and metric in known):
            continue
        lines = np.array([cell.line for cell in field.cells], dtype=np.int64)
        columns = np.array([cell.column for cell in field.cells], dtype=np.int64)
        cells = [_number(cell.text) for cell in field.cells]
        yield metric, [Printed(metric, field.heading, None, cells, field.unit, lines, columns)]


def _number(cell: str) -> str:
    """A value without the number of its instances, ``4,096 {2066}``; ``no data`` where only that is there."""
    text = _INSTANCES.sub("", cell).strip()
    return text or ("no data" if cell.strip() else "")


def _origin(field: Field) -> ColumnOrigin:
    lines = np.array([cell.line for cell in field.cells], dtype=np.int64)
    columns = np.array([cell.column for cell in field.cells], dtype=np.int64)
    return ColumnOrigin(field.heading, None, field.unit, lines, columns)
