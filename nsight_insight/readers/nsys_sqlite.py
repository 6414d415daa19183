"""SQLite exports of Nsight Systems, schemas of 2020 to 2026: ``nsys export --type sqlite``, ``nsys profile --stats``.

Tables and columns are taken as they are found: exports write only tables that have rows, publishers trim them and
add their own. Every table becomes one ``Table`` under the name of the ``nsys stats`` report that prints the same.
"""

from __future__ import annotations

from typing import Final

from nsight_insight.errors import InputError, UnrecognizedInput
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._sqlite_capture import read_capture
from nsight_insight.readers._sqlite_database import MAGIC, Database, open_database
from nsight_insight.readers.text import SourceText

NAME: Final = "nsys_sqlite"
_CERTAIN: Final = 1.0
_DAMAGED: Final = 0.1
_OWN: Final = ("TARGET_INFO_", "META_DATA_EXPORT", "EXPORT_META_DATA", "NVTX_EVENTS")
_CUPTI: Final = "CUPTI_ACTIVITY_KIND_"
_NVPROF: Final = "StringTable"
"""nvprof's databases have CUPTI tables too, and this one for their texts."""


def sniff(text: SourceText) -> float:
    """1 for a database with tables of nsys, 0.1 for one too damaged to tell."""
    if not text.magic.startswith(MAGIC):
        return 0.0
    try:
        with open_database(text) as database:
            return _CERTAIN if _is_export(database) else 0.0
    except InputError:
        return _DAMAGED


def _is_export(database: Database) -> bool:
    tables = database.tables
    if any(table.startswith(_OWN) for table in tables):
        return True
    return any(table.startswith(_CUPTI) for table in tables) and _NVPROF not in tables


def read(text: SourceText) -> ReadResult:
    """Every table of the export.

    Raises:
        MissingInput: the file cannot be opened.
        UnrecognizedInput: no database, a damaged one, or none of nsys.
        EmptyInput: no CUDA activity in it.
    """
    return read_as(text, NAME)


def read_as(text: SourceText, reader: str) -> ReadResult:
    """Every table of the export under the name of the reader that came by it."""
    with open_database(text) as database:
        if not _is_export(database):
            raise UnrecognizedInput("an SQLite database, but without tables of Nsight Systems", path=text.path)
        return read_capture(database, reader)
