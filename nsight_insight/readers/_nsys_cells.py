"""CSV records to columns, by the standard library or, for large files, by pandas' C engine.

Both give the same: numbers as float64 with a ``Missing`` code per cell, texts as object arrays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.missing import Missing
from nsight_insight.readers._nsys_scan import fields

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]
Objects = npt.NDArray[np.object_]

_EMPTY: Final = frozenset({"", "None"})
_PLAIN: Final = re.compile(r"[0-9eE.+-]*")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FAILED: Final = frozenset({"nan", "inf", "-inf"})


@dataclass(frozen=True)
class Cells:
    """Columns by 0-based field position."""

    numbers: dict[int, tuple[Floats, Codes]]
    texts: dict[int, Objects]


def read_cells(records: Sequence[str], numbers: Collection[int], texts: Collection[int], *, large: bool) -> Cells:
    """The wanted columns of records that all have the same number of fields."""
    if large and records:
        cells = _read_pandas(records, numbers, texts)
        if cells is not None:
            return cells
    return _read_csv(records, numbers, texts)


def _read_csv(records: Sequence[str], numbers: Collection[int], texts: Collection[int]) -> Cells:
    columns = list(zip(*(fields(record) or () for record in records), strict=True))
    if not columns:
        return Cells({i: parse_numbers(()) for i in numbers}, {i: _objects(()) for i in texts})
    return Cells({i: parse_numbers(columns[i]) for i in numbers}, {i: _objects(columns[i]) for i in texts})


def _objects(cells: Sequence[str]) -> Objects:
    shared: dict[str, str] = {}
    values = np.empty(len(cells), dtype=object)
    values[:] = [shared.setdefault(cell, cell) for cell in cells]
    return values


def parse_numbers(cells: Sequence[str]) -> tuple[Floats, Codes]:
    """Numbers in C notation; NaN with the reason where a cell holds none."""
    codes = np.zeros(len(cells), dtype=np.uint8)
    if _PLAIN.fullmatch("".join(cells)):
        try:
            values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        except ValueError:
            pass
        else:
            return (values, codes) if np.isfinite(values).all() else _parse_each(cells, codes)
    return _parse_each(cells, codes)


def _parse_each(cells: Sequence[str], codes: Codes) -> tuple[Floats, Codes]:
    values = np.full(len(cells), np.nan)
    for index, cell in enumerate(cells):
        text = cell.strip()
        if text in _EMPTY:
            codes[index] = Missing.EMPTY
        elif _NUMBER.fullmatch(text) and np.isfinite(value := float(text)):
            values[index] = value
        else:
            codes[index] = Missing.FAILED if text.lower() in _FAILED else Missing.UNPARSABLE
    return values, codes


def _exact_floats(version: str) -> Any:
    """Pandas 3.1 reads floats to the last bit and deprecates being asked for it."""
    return {} if tuple(int(part) for part in version.split(".")[:2]) >= (3, 1) else {"float_precision": "round_trip"}


def _read_pandas(records: Sequence[str], numbers: Collection[int], texts: Collection[int]) -> Cells | None:
    """None where a numeric column holds anything but numbers and empty cells."""
    import pandas as pd

    types: dict[str, Any] = {str(position): np.float64 for position in numbers}
    types.update((str(position), object) for position in texts)
    try:
        frame = pd.read_csv(
            StringIO("\n".join(records) + "\n"),
            engine="c",
            header=None,
            names=[str(position) for position, _ in enumerate(fields(records[0]) or ())],
            index_col=False,
            usecols=list(types),
            dtype=types,
            na_values={str(position): sorted(_EMPTY) for position in numbers},
            keep_default_na=False,
            **_exact_floats(pd.__version__),
            skip_blank_lines=False,
            lineterminator="\n",
        )
    except (ValueError, OverflowError):
        return None
    figures = {i: frame[str(i)].to_numpy(dtype=np.float64) for i in numbers}
    if len(frame) != len(records) or any(np.isinf(values).any() for values in figures.values()):
        return None
    return Cells(
        {i: (values, np.where(np.isnan(values), Missing.EMPTY, 0).astype(np.uint8)) for i, values in figures.items()},
        {i: frame[str(i)].to_numpy(dtype=object) for i in texts},
    )
