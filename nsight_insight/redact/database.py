"""A new SQLite export with the numbers of the old one and, of its texts, only those that are about the work.

The copy is written row by row: free pages, journals and whatever else a database file drags along stay behind. Texts
are kept by an allow list; a table or column that is not on it loses its texts and keeps its numbers and row numbers.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nsight_insight.readers._nsys_banners import version_of
from nsight_insight.readers._sqlite_database import CHUNK, Database, open_database, quoted
from nsight_insight.readers.text import SourceText
from nsight_insight.redact.editor import Editor
from nsight_insight.redact.mask import COMMAND, ENVIRONMENT, HOST, PATH, PROCESS, USER

Filter = Callable[[str], str]

_STRINGS: Final = "StringIds"
_LEFT_OUT: Final = re.compile(r"(?:sqlite_.*|META_DATA_CAPTURE|ANALYSIS_FILE|ProcessStreams|ThreadNames|"
                              r".*CALLCHAINS.*|COMPOSITE_EVENTS|SCHED_EVENTS|MODULES|TARGET_INFO_SESSION_START_TIME|.*FILE_ACCESS.*|"
                              r"TARGET_INFO_(?:NIC|NETWORK|PROCESS).*)")  # fmt: skip
"""Tables that are about people, machines and code only."""
_EXPORT: Final = ("META_DATA_EXPORT", "EXPORT_META_DATA")
_EXPORT_KEPT: Final = re.compile(
    r"EXPORT_(?:PRODUCT|SCHEMA)_\w+|EXPORT_PARAM_(?:LAZY|TABLES_TO_EXPORT|TIMES_TO_EXPORT)"
)
_SYSTEM: Final = "TARGET_INFO_SYSTEM_ENV"
_SYSTEM_KEPT: Final = ("NvDriverVersion", "CudaDriverVersion", "TargetInstallDir")
_KERNEL_IDS: Final = ("demangledName", "shortName")
_NAME_IDS: Final = ("nameId", "textId")
_RANGES: Final = "NVTX_EVENTS"
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_KINDS: Final = (
    (re.compile(r"HOST|DISPLAY_NAME|Hostname", re.IGNORECASE), HOST),
    (re.compile(r"USER", re.IGNORECASE), USER),
    (re.compile(r"PATH|DIR|FILE", re.IGNORECASE), PATH),
    (re.compile(r"COMMAND|ARGUMENT"), COMMAND),
    (re.compile(r"ENVIRONMENT", re.IGNORECASE), ENVIRONMENT),
)


@dataclass
class _Copy:
    """One export being copied.

    Attributes:
        strings: id of a text -> what to do with it.
    """

    source: Database
    target: sqlite3.Connection
    editor: Editor
    strings: dict[int, Filter] = field(default_factory=dict)


def learn_database(text: SourceText, editor: Editor) -> None:
    """Users, hosts and environment that an export tells of, so that they are found in other files, too."""
    with open_database(text) as database:
        for name, value in _facts(database):
            kind = next((kind for pattern, kind in _KINDS if pattern.search(name)), "")
            if kind in (HOST, USER):
                editor.mask.learn(kind, value)
            elif kind == ENVIRONMENT:
                for _, setting in environment_in(value):
                    editor.mask.learn(ENVIRONMENT, setting)
            editor.mask.learn_homes(value)
        for value in _texts(database, _STRINGS, "value"):
            for name, setting in environment_in(value):
                editor.mask.learn(USER if name in ("USER", "LOGNAME") else ENVIRONMENT, setting)
            editor.mask.learn_homes(value)


def copy_database(text: SourceText, target: Path, editor: Editor) -> None:
    """Write the clean copy to a path that does not exist yet.

    Raises:
        UnrecognizedInput: the database is damaged beyond use.
    """
    connection = sqlite3.connect(target, isolation_level=None)
    try:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "page_size = 4096"):
            connection.execute(f"PRAGMA {pragma}")
        with open_database(text) as database:
            connection.execute("BEGIN")
            _copy(_Copy(database, connection, editor))
            connection.execute("COMMIT")
    finally:
        connection.close()


def _copy(copy: _Copy) -> None:
    for table in copy.source.tables:
        if table == _STRINGS:
            continue
        if _LEFT_OUT.fullmatch(table) or _virtual(copy.source, table):
            _leave_out(copy, table)
        else:
            _table(copy, table)
    if _STRINGS in copy.source.tables:
        _copy_strings(copy)


def _table(copy: _Copy, table: str) -> None:
    """Numbers of every row under its own number; texts as the allow list says."""
    columns = _columns(copy.source, table)
    _create(copy.target, table, columns)
    filters = _filters(copy, table)
    chosen = ", ".join(["rowid", *(_expression(name, kept=name in filters) for name in columns)])
    insert = f"INSERT INTO {quoted(table)} (rowid, {', '.join(map(quoted, columns))}) VALUES ({'?, ' * len(columns)}?)"  # noqa: S608
    places = [(place, filters[name]) for place, name in enumerate(columns, 1) if name in filters]
    rows = copy.source.fetch(f"SELECT {chosen} FROM {quoted(table)} WHERE {_wanted(table)} ORDER BY rowid", table)  # noqa: S608
    for block in _blocks(_filtered(rows, places)):
        copy.target.executemany(insert, block)
    _left_rows(copy, table)
    for name in (*_KERNEL_IDS, *_NAME_IDS):
        if name in columns:
            _want_strings(copy, table, name)


def _filters(copy: _Copy, table: str) -> Mapping[str, Filter]:
    """Text columns that stay, and what is done to their cells."""
    edit = copy.editor
    if table.startswith("ENUM_"):
        return {"name": edit.mask.text, "label": edit.mask.text}
    if table in _EXPORT:
        return {"name": str, "value": edit.mask.text}
    kept: dict[str, dict[str, Filter]] = {
        _SYSTEM: {"name": str, "value": lambda value: _system(value, edit)},
        _RANGES: {"text": edit.range},
        "DIAGNOSTIC_EVENT": {"text": edit.mask.text},
        "PROCESSES": {"name": lambda name: edit.mask.name(PROCESS, name)},
        "TARGET_INFO_GPU": {"name": str, "chipName": str},
        "TARGET_INFO_CUDA_GPU": {"name": str},
        "TARGET_INFO_GPU_METRICS": {"metricName": str},
    }
    return kept.get(table, {})


def _system(value: str, editor: Editor) -> str:
    """A release number, or the folder of the profiler reduced to its release."""
    if "/" not in value and "\\" not in value:
        return value
    editor.mask.drop(PATH, value)
    version = version_of(value)
    return f"nsight-systems-{version}" if version else ""


def _wanted(table: str) -> str:
    if table == _SYSTEM:
        return f"name IN ({', '.join(map(repr, _SYSTEM_KEPT))})"
    if table in _EXPORT:
        kept = ("EXPORT_PRODUCT%", "EXPORT_SCHEMA%", "EXPORT_PARAM_LAZY", "EXPORT_PARAM_T%_TO_EXPORT")
        return " OR ".join(f"name LIKE '{pattern}'" for pattern in kept)
    return "1"


def _left_rows(copy: _Copy, table: str) -> None:
    """Rows of the tables of notes that did not come along."""
    if table != _SYSTEM and table not in _EXPORT:
        return
    for name, value in copy.source.fetch(f"SELECT name, value FROM {quoted(table)}", table):  # noqa: S608
        kept = name in _SYSTEM_KEPT if table == _SYSTEM else _EXPORT_KEPT.fullmatch(str(name))
        if not kept:
            _gone(copy.editor, str(name), str(value or ""))


def _leave_out(copy: _Copy, table: str) -> None:
    """Count what the texts of a table were about."""
    if copy.source.has(table, "name", "value"):
        for name, value in copy.source.fetch(f"SELECT name, value FROM {quoted(table)}", table):  # noqa: S608
            _gone(copy.editor, str(name), str(value or ""))
    elif table not in ("sqlite_sequence", "sqlite_stat1"):
        copy.editor.mask.counts[f"row of {table}"] += copy.source.count(table)


def _gone(editor: Editor, name: str, value: str) -> None:
    kind = next((kind for pattern, kind in _KINDS if pattern.search(name)), "note about the capture")
    if value.strip():
        editor.mask.drop(kind, value)


def _want_strings(copy: _Copy, table: str, column: str) -> None:
    edit = copy.editor
    kernel = column in _KERNEL_IDS
    change: Filter = edit.kernel if kernel else edit.range if table == _RANGES else _plain(edit)
    rows = copy.source.fetch(f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)}", table)  # noqa: S608
    for (key,) in rows:
        if isinstance(key, int) and (kernel or key not in copy.strings):
            copy.strings[key] = change


def _plain(editor: Editor) -> Filter:
    return lambda text: editor.mask.text(text, figures=True)


def _copy_strings(copy: _Copy) -> None:
    """Texts that rows of the copy name; the environment stands in this table, too, and nobody names it."""
    copy.target.execute(f"CREATE TABLE {_STRINGS} (id INTEGER NOT NULL PRIMARY KEY, value TEXT)")
    kept = []
    for key, value in copy.source.fetch(f"SELECT id, value FROM {_STRINGS} ORDER BY id", _STRINGS):  # noqa: S608
        text = str(value or "")
        if key in copy.strings:
            kept.append((key, copy.strings[key](text)))
        elif settings := list(environment_in(text)):
            for _, setting in settings:
                copy.editor.mask.drop(ENVIRONMENT, setting)
        elif text:
            copy.editor.mask.drop("text that no event names", text)
    copy.target.executemany(f"INSERT INTO {_STRINGS} VALUES (?, ?)", kept)  # noqa: S608


def environment_in(text: str) -> Iterator[tuple[str, str]]:
    """Variables and values of an environment, written with NUL, semicolon or line end between them, or one alone."""
    if not _ASSIGNMENT.match(text):
        return
    for part in re.split(r"[\0\n;]", text):
        if _ASSIGNMENT.match(part):
            name, _, value = part.partition("=")
            yield name, value.strip().strip('"')


def _facts(database: Database) -> Iterator[tuple[str, str]]:
    """Name and value of everything that an export notes about the capture."""
    for table in ("META_DATA_CAPTURE", _SYSTEM, *_EXPORT):
        if database.has(table, "name", "value"):
            for name, value in database.fetch(f"SELECT name, value FROM {quoted(table)}", table):  # noqa: S608
                yield str(name), str(value or "")


def _texts(database: Database, table: str, column: str) -> Iterator[str]:
    if database.has(table, column):
        for (value,) in database.fetch(f"SELECT {quoted(column)} FROM {quoted(table)}", table):  # noqa: S608
            yield str(value or "")


def _columns(database: Database, table: str) -> dict[str, str]:
    """Column -> declared type, in order."""
    rows = database.connection.execute(f"PRAGMA table_info({quoted(table)})")
    return {str(row[1]): re.sub(r"[^A-Za-z0-9_ ]", "", str(row[2] or "")) for row in rows}


def _create(target: sqlite3.Connection, table: str, columns: Mapping[str, str]) -> None:
    parts = ", ".join(f"{quoted(name)} {kind}".strip() for name, kind in columns.items())
    target.execute(f"CREATE TABLE {quoted(table)} ({parts})")


def _expression(column: str, *, kept: bool) -> str:
    """A cell as it is where texts of the column stay; elsewhere numbers, also those written as texts."""
    name = quoted(column)
    if kept:
        return name
    number = f"{name} GLOB '[0-9]*' AND {name} NOT GLOB '*[^0-9.]*'"
    text = f"CASE WHEN {number} THEN {name} ELSE '' END"
    return f"CASE typeof({name}) WHEN 'text' THEN {text} WHEN 'blob' THEN NULL ELSE {name} END"


def _filtered(rows: Iterator[Sequence[object]], places: Sequence[tuple[int, Filter]]) -> Iterator[Sequence[object]]:
    if not places:
        yield from rows
        return
    for row in rows:
        cells = list(row)
        for place, change in places:
            cell = cells[place]
            cells[place] = change(cell) if isinstance(cell, str) else None if isinstance(cell, bytes) else cell
        yield cells


def _blocks(rows: Iterator[Sequence[object]]) -> Iterator[list[Sequence[object]]]:
    block: list[Sequence[object]] = []
    for row in rows:
        block.append(row)
        if len(block) == CHUNK:
            yield block
            block = []
    if block:
        yield block


def _virtual(database: Database, table: str) -> bool:
    sql = "SELECT 1 FROM sqlite_master WHERE name = ? AND (sql LIKE 'CREATE VIRTUAL%' OR sql LIKE '%WITHOUT ROWID%')"
    return any(database.fetch(sql, table, (table,)))
