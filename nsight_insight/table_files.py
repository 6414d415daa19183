"""Frames to files that other tools read."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

from nsight_insight.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

TABLE: Final = "activities"
"""Name of the table in a database."""
_ENDINGS: Final = {
    ".csv": "csv", ".csv.gz": "csv", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet", ".sqlite": "sqlite",
    ".db": "sqlite",
}  # fmt: skip
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula."""


def form_of(file: Path) -> str:
    """``csv``, ``json``, ``parquet`` or ``sqlite``, by the ending of a name.

    Raises:
        UsageError: no such ending, or Parquet without pyarrow.
    """
    form = next((form for ending, form in _ENDINGS.items() if file.name.lower().endswith(ending)), None)
    if form is None:
        raise UsageError(f"{file}: the ending must be one of {', '.join(_ENDINGS)}")
    if form == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise UsageError('writing Parquet takes pyarrow: pip install "nsight-insight[parquet]"') from error
    return form


def write_frame(frame: pd.DataFrame, file: Path, form: str) -> None:
    """Write a frame; the file appears whole or not at all."""
    writers: Mapping[str, Callable[[pd.DataFrame, Path], None]] = {
        "csv": _csv, "json": _json, "parquet": _parquet, "sqlite": _sqlite,
    }  # fmt: skip
    handle, name = tempfile.mkstemp(prefix=".convert-", suffix=file.name, dir=file.absolute().parent)
    os.close(handle)
    draft = Path(name)
    try:
        writers[form](frame, draft)
        draft.chmod(0o666 & ~_umask())
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _csv(frame: pd.DataFrame, file: Path) -> None:
    from pandas.api.types import is_numeric_dtype

    texts = [name for name in frame.columns if not is_numeric_dtype(frame[name])]
    safe = frame.assign(**{name: frame[name].map(_no_formula) for name in texts})
    with file.open("wb") as raw, _packed(raw, file.name) as out:
        safe.to_csv(out, index=False, lineterminator="\n", float_format=_number)


@contextmanager
def _packed(raw: BinaryIO, name: str) -> Iterator[IO[bytes]]:
    """The file, or what compresses into it: without a name and a time, so that the same table gives the same bytes."""
    if not name.endswith(".gz"):
        yield raw
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        yield cast("IO[bytes]", packed)


def _number(value: object) -> str:
    """As few digits as read back to the same number; whole ones without a point, so that times stay integers."""
    if not isinstance(value, float):
        return str(value)
    return f"{int(value)}" if value.is_integer() and abs(value) < 2**53 else repr(float(value))


def _no_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _json(frame: pd.DataFrame, file: Path) -> None:
    frame.to_json(file, orient="records", lines=True, double_precision=15, force_ascii=False)


def _parquet(frame: pd.DataFrame, file: Path) -> None:
    frame.to_parquet(file, index=False, engine="pyarrow")


def _sqlite(frame: pd.DataFrame, file: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(file)
    try:
        frame.to_sql(TABLE, connection, index=False)
        connection.commit()
    finally:
        connection.close()
