"""A database read without leaving a trace: no lock, no journal, nothing written beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.errors import MissingInput, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.text import counted

if TYPE_CHECKING:
    from nsight_insight.model.profile import Ints
    from nsight_insight.readers.text import SourceText

MAGIC: Final = b"SQLite format 3\x00"
CHUNK: Final = 65_536
"""Rows fetched at a time: what is in flight as Python objects stays below 100 MB whatever the table holds."""
_WAL: Final = b"\x02\x02"
_ROLLBACK: Final = b"\x01\x01"
_FORMAT: Final = slice(18, 20)
"""Read and write version in the file header; a database in memory cannot have a write-ahead log."""
_STRINGS: Final = "StringIds"
_PARAMETERS: Final = 500
"""Values in one IN list; SQLite's own limit is 999 in old builds."""

Floats = npt.NDArray[np.float64]
Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Field:
    """One figure to read from a table.

    Attributes:
        name: key in ``Rows.columns``.
        expression: SQL over the table's columns.
        needs: columns without which the figure is left out.
        label: how evidence calls the cell; the column's name, or what was computed from columns.
    """

    name: str
    expression: str
    needs: tuple[str, ...]
    label: str
    unit: str = ""


def plain(name: str, column: str, unit: str = "") -> Field:
    """A column as it stands."""
    return Field(name, f'"{column}"', (column,), column, unit)


@dataclass
class Rows:
    """Rows of one table: rowids and figures, NaN where a cell is NULL or no number."""

    ids: Ints
    columns: dict[str, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def keep(self, mask: npt.NDArray[np.bool_]) -> Rows:
        """The rows where ``mask`` holds."""
        return Rows(self.ids[mask], {name: values[mask] for name, values in self.columns.items()})


@dataclass
class Database:
    """Tables of an open database; what cannot be read of them becomes an issue, what could is kept."""

    connection: sqlite3.Connection
    path: str
    issues: list[Issue] = field(default_factory=list)

    @cached_property
    def tables(self) -> Mapping[str, frozenset[str]]:
        """Table -> its columns; views and virtual tables are not among them."""
        names = [
            str(name) for (name,) in self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {name: self._columns(name) for name in names}

    def _columns(self, table: str) -> frozenset[str]:
        rows = self.connection.execute(f"PRAGMA table_info({quoted(table)})")
        return frozenset(str(row[1]) for row in rows)

    def has(self, table: str, *columns: str) -> bool:
        """True when the table exists with these columns."""
        return table in self.tables and self.tables[table].issuperset(columns)

    def count(self, table: str) -> int:
        """Rows of a table, 0 without it."""
        if not self.has(table):
            return 0
        return int(self.first(f"SELECT COUNT(*) FROM {quoted(table)}", table) or 0)  # noqa: S608

    def first(self, sql: str, table: str) -> Any:
        """The first cell of a query's result, None without any."""
        return next((row[0] for row in self.fetch(sql, table)), None)

    def fetch(self, sql: str, table: str, parameters: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Rows of a query, until the database says that it is damaged."""
        read = 0
        try:
            for row in self.connection.execute(sql, parameters):
                yield row
                read += 1
        except sqlite3.Error as error:
            self._lost(table, read, error)

    def read(self, table: str, fields: Sequence[Field], where: str = "1") -> Rows:
        """The figures that the table's columns allow, in the order of the rowids."""
        usable = [item for item in fields if self.has(table, *item.needs)]
        chosen = ", ".join(["rowid", *(item.expression for item in usable)])
        sql = f"SELECT {chosen} FROM {quoted(table)} WHERE {where} ORDER BY rowid"  # noqa: S608
        parts: list[list[Floats]] = [[] for _ in range(len(usable) + 1)]
        for block in self._blocks(sql, table):
            for part, values in zip(parts, self._figures(block, table).T, strict=True):
                part.append(np.ascontiguousarray(values))
        ids = _joined(parts[0]).astype(np.int64)
        return Rows(ids, {item.name: _joined(part) for item, part in zip(usable, parts[1:], strict=True)})

    def _blocks(self, sql: str, table: str) -> Iterator[list[tuple[Any, ...]]]:
        read = 0
        try:
            cursor = self.connection.execute(sql)
            while block := cursor.fetchmany(CHUNK):
                yield block
                read += len(block)
        except sqlite3.Error as error:
            self._lost(table, read, error)

    def _figures(self, block: list[tuple[Any, ...]], table: str) -> Floats:
        try:
            return np.array(block, dtype=np.float64)
        except (ValueError, TypeError):
            figures = np.array([[_number(cell) for cell in row] for row in block], dtype=np.float64)
        wrong = sum(cell is not None for row in block for cell in row) - int(np.isfinite(figures).sum())
        text = f"{number_of(wrong, 'cell')} left out, not a number"
        self.issues.append(Issue(Level.DATA_LOSS, text, Location(self.path, int(figures[0, 0]), table=table)))
        return figures

    def _lost(self, table: str, read: int, error: sqlite3.Error) -> None:
        behind = f"behind the first {number_of(read, 'row')}" if read else "at all"
        text = f"the table cannot be read {behind}: {error}"
        self.issues.append(Issue(Level.DATA_LOSS, text, Location(self.path, table=table)))

    def strings(self, ids: Floats) -> dict[int, str]:
        """Texts of ``StringIds`` by id, only those asked for: the table also holds the process environment."""
        if not self.has(_STRINGS, "id", "value"):
            return {}
        wanted = np.unique(ids[np.isfinite(ids)]).astype(np.int64).tolist()
        found: dict[int, str] = {}
        for start in range(0, len(wanted), _PARAMETERS):
            some = wanted[start : start + _PARAMETERS]
            sql = f"SELECT id, value FROM {_STRINGS} WHERE id IN ({', '.join('?' * len(some))})"  # noqa: S608
            found.update((int(key), str(value)) for key, value in self.fetch(sql, _STRINGS, some))
        return found

    def names(self, ids: Floats, unnamed: str = "") -> Objects:
        """Texts of ``StringIds`` per row."""
        strings = self.strings(ids)
        keys, places = np.unique(np.nan_to_num(ids, nan=-1.0).astype(np.int64), return_inverse=True)
        texts = np.array([strings.get(key, unnamed) for key in keys.tolist()] or [unnamed], dtype=object)
        return texts[places]


@contextmanager
def open_database(text: SourceText) -> Iterator[Database]:
    """The database of an input, a file on disk or bytes in memory; closed at the end.

    Raises:
        MissingInput: the file cannot be opened.
        UnrecognizedInput: no database, or one damaged beyond use.
    """
    try:
        connection = _connect(text)
    except sqlite3.OperationalError as error:
        raise MissingInput(str(error), path=text.path) from error
    database = Database(connection, text.path, _unfinished(text))
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {pragma}")
        try:
            _ = database.tables
        except sqlite3.Error as error:
            raise UnrecognizedInput(f"a damaged SQLite database: {error}", path=text.path) from error
        yield database
    finally:
        connection.close()


def _connect(text: SourceText) -> sqlite3.Connection:
    if text.file is not None and text.content is None:
        return sqlite3.connect(f"{text.file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    connection = sqlite3.connect(":memory:")
    data = text.data
    if data[_FORMAT] == _WAL:
        data = data[: _FORMAT.start] + _ROLLBACK + data[_FORMAT.stop :]
    connection.deserialize(data)
    return connection


def _unfinished(text: SourceText) -> list[Issue]:
    """Changes that whoever wrote the database left in a log beside it; they are not read."""
    if text.file is None or text.content is not None:
        return []
    logs = [text.file.with_name(text.file.name + end) for end in ("-wal", "-journal")]
    return [
        Issue(
            Level.DATA_LOSS, f"{log.name} beside the file is not read: the export was not finished", Location(text.path)
        )
        for log in logs
        if log.is_file() and log.stat().st_size
    ]


def number_of(count: int, noun: str) -> str:
    """``1 row``, ``12,000 rows``."""
    number = f"{count:,}"
    return f"{number} {counted(number, noun)}"


def quoted(name: str) -> str:
    """A table or column name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _joined(parts: list[Floats]) -> Floats:
    values = np.concatenate(parts) if parts else np.zeros(0)
    parts.clear()
    return values


def _number(cell: object) -> float:
    if isinstance(cell, int | float):
        return float(cell)
    try:
        return float(cell) if isinstance(cell, str) else float("nan")
    except ValueError:
        return float("nan")
