"""Parquet files with the columns of an nsys report; needs the extra ``parquet`` (pyarrow)."""

from __future__ import annotations

import io
from typing import Any, Final

from nsight_insight.catalog.nsys_reports import fitting_reports
from nsight_insight.errors import UnrecognizedInput
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._nsys_grid import Grid, headings_of
from nsight_insight.readers._nsys_read import read_grid
from nsight_insight.readers.text import MAX_BYTES, SourceText

NAME: Final = "nsys_parquet"
_MAGIC: Final = b"PAR1"
_CERTAIN: Final = 0.9
_EXPORT: Final = frozenset({"globalPid", "globalTid", "globalVid", "deviceId", "rawTimestamp"})
"""Columns of the tables that ``nsys export --type parquetdir`` writes."""
_ADVICE: Final = "its tables belong together; give the SQLite export, nsys export --type sqlite"
_INDEX: Final = "__index_level_"
_NEEDS: Final = "a Parquet file: reading it needs pyarrow, pip install 'nsight-insight[parquet]'"


def sniff(text: SourceText) -> float:
    """0.9 for any Parquet file; whether it is a report is seen when it is read."""
    return _CERTAIN if text.magic.startswith(_MAGIC) else 0.0


def read(text: SourceText) -> ReadResult:
    """The report in the file; the line of a row is its number, from 1.

    Raises:
        UnrecognizedInput: pyarrow is missing or cannot read the file, or its columns are those of no report.
        EmptyInput: no rows.
    """
    columns = _columns(text)
    names = [name for name in columns if not name.startswith(_INDEX)]
    headings = headings_of(names)
    if not fitting_reports(headings):
        if _EXPORT.intersection(names):
            raise UnrecognizedInput(f"one table of an export to Parquet: {_ADVICE}", path=text.path)
        listed = ", ".join(names[:20])
        raise UnrecognizedInput(f"no known report of nsys has these columns: {listed}", path=text.path)
    grid = Grid(NAME, 1, headings, plain=True)
    for number, row in enumerate(zip(*(columns[name] for name in names), strict=True), 1):
        grid.add(["" if value is None else str(value) for value in row], number)
    return read_grid(grid, text)


def _columns(text: SourceText) -> dict[str, list[Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UnrecognizedInput(_NEEDS, path=text.path) from None
    try:
        file = pq.ParquetFile(io.BytesIO(text.data))
        groups = range(file.metadata.num_row_groups)
        if sum(file.metadata.row_group(group).total_byte_size for group in groups) > MAX_BYTES:
            raise UnrecognizedInput(f"larger than {MAX_BYTES >> 30} GiB", path=text.path)
        found: dict[str, list[Any]] = file.read().to_pydict()
    except (pa.ArrowException, OSError) as error:
        raise UnrecognizedInput(f"a Parquet file that pyarrow cannot read: {error}", path=text.path) from error
    return found
