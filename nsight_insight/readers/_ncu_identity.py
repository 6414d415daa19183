"""Which launch a row is: its identity cells as activity columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.columns import Kind
from nsight_insight.model.missing import Missing
from nsight_insight.model.numbers import Floats
from nsight_insight.model.profile import ColumnOrigin
from nsight_insight.readers._ncu_layout import (
    BLOCK,
    CC,
    CONTEXT,
    DEVICE,
    GRID,
    ID,
    NAME,
    NVTX,
    PROCESS,
    STREAM,
)
from nsight_insight.readers._ncu_metrics import Filled
from nsight_insight.readers._ncu_page import Page, capability
from nsight_insight.readers._ncu_values import Sheet

Array = npt.NDArray[Any]
_INTEGERS: Final = {
    "correlation": ID,
    "process": PROCESS,
    "context": CONTEXT,
    "stream": STREAM,
    "device": DEVICE,
}
_WHOLE: Final = re.compile(r"(\d{1,18})(?:\.0+)?", re.ASCII)
_DIMENSIONS: Final = re.compile(r"\(\s*(\d{1,18}),\s*(\d{1,18}),\s*(\d{1,18})\s*\)", re.ASCII)


def identity_columns(page: Page) -> dict[str, Array]:
    """Activity columns from the cells in front of the metrics."""
    rows = len(page)
    columns: dict[str, Array] = {
        "line": np.array(page.lines, dtype=np.int64),
        "kind": _texts(page.kinds or [Kind.KERNEL.value] * rows),
        "count": np.array(page.counts or [1] * rows, dtype=np.int64),
        "name": _texts(page.texts[NAME]),
    }
    for column, heading in _INTEGERS.items():
        if heading in page.texts:
            columns[column] = np.array([_integer(cell) for cell in page.texts[heading]], dtype=np.int64)
    if page.nvtx:
        columns["thread"] = np.array([thread for thread, _ in page.nvtx], dtype=np.int64)
        columns["nvtx"] = _texts([names for _, names in page.nvtx])
    return columns


def identity_origins(page: Page) -> dict[str, tuple[ColumnOrigin, ...]]:
    """Where the identity columns stand, in the launch's own line."""
    headings = {**_INTEGERS, "name": NAME, "cc": CC, "nvtx": NVTX, "thread": NVTX}
    return {column: (page.origins[heading],) for column, heading in headings.items() if heading in page.origins}


def compute_capability(sheet: Sheet) -> Floats:
    """Compute capability per launch: its own cell, else the device attributes; NaN unknown."""
    page = sheet.page
    if CC in page.texts:
        return np.array([capability(cell) or np.nan for cell in page.texts[CC]], dtype=np.float64)
    parts = [page.printed.get(f"device__attribute_compute_capability_{part}") for part in ("major", "minor")]
    if not (parts[0] and parts[1]):
        return np.full(len(page), np.nan)
    major, minor = (sheet.numbers(part[0])[0] for part in parts if part)
    return major + minor / 10


def shape_columns(page: Page, columns: dict[str, Filled]) -> None:
    """Grid and block from their own cells, else from launch metrics, else from the products alone.

    A launch that failed prints ``(0, 0, 0)``: unknown, not empty.
    """
    for name, heading in (("grid", GRID), ("block", BLOCK)):
        axes = [f"{name}_{axis}" for axis in "xyz"]
        size = columns.pop(f"{name}_size", None)
        if heading in page.texts:
            cells = np.array([_dimensions(cell) for cell in page.texts[heading]], dtype=np.float64)
            for place, axis in enumerate(axes):
                columns[axis] = _filled(cells[:, place], page.origins[heading])
        elif size is not None and axes[0] not in columns:
            # Whatever is derived from the dimensions is derived from their product.
            columns[axes[0]] = size
            for axis in axes[1:]:
                columns[axis] = _filled(np.where(np.isnan(size.values), np.nan, 1.0), size.origins[0])


def _filled(values: Floats, origin: ColumnOrigin) -> Filled:
    codes = np.where(np.isnan(values), Missing.FAILED, Missing.PRESENT).astype(np.uint8)
    return Filled(values, codes, np.zeros(len(values), dtype=np.int64), [origin])


def _dimensions(cell: str) -> tuple[float, float, float]:
    found = _DIMENSIONS.fullmatch(cell.strip())
    if found is None or "0" in found.groups():
        return (np.nan, np.nan, np.nan)
    return (float(found[1]), float(found[2]), float(found[3]))


def _integer(cell: str) -> int:
    """A number of a launch, stream or process; re-saved tables write 3.0."""
    found = _WHOLE.fullmatch(cell)
    return int(found[1]) if found else -1


def _texts(cells: Sequence[str]) -> Array:
    shared: dict[str, str] = {}
    values: Array = np.empty(len(cells), dtype=object)
    values[:] = [shared.setdefault(cell, cell) for cell in cells]
    return values
