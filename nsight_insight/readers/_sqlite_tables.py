"""Rows of a database table to one ``Table``: origins, missing cells, whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.columns import ACTIVITY_COLUMNS, Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ColumnOrigin, Source, Table
from nsight_insight.readers._sqlite_database import Database, Field, Floats, Rows, number_of, plain

DURATION: Final = Field("duration", '"end" - "start"', ("start", "end"), "end - start", "ns")
TIMES: Final = (plain("start", "start", "ns"), DURATION)
PROCESS: Final = Field("process", '("globalPid" >> 24) & 16777215', ("globalPid",), "globalPid")
THREAD: Final = (
    Field("process", '("globalTid" >> 24) & 16777215', ("globalTid",), "globalTid"),
    Field("thread", '"globalTid" & 16777215', ("globalTid",), "globalTid"),
)
"""A global id packs virtual machine, process (24 bits) and thread (24 bits)."""
_WITHOUT_REASON: Final = frozenset({"api_duration", "queue_duration"})


@dataclass
class Part:
    """One table under construction.

    Attributes:
        name: the database's table.
        report: the report of ``nsys stats`` that prints the same.
        fields: what was asked for; figures whose name begins with ``_`` only help to derive columns.
        labels: activity column -> how evidence calls its cells, for columns that were not read as they are.
    """

    name: str
    report: str
    kind: Kind
    rows: Rows
    fields: Sequence[Field] = ()
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def figure(self, name: str) -> Floats:
        """A figure that was read, NaN where the table does not have it."""
        return self.rows.columns.get(name, np.full(len(self.rows), np.nan))

    def keep(self, mask: npt.NDArray[np.bool_]) -> Part:
        """The rows where ``mask`` holds."""
        columns = {name: values[mask] for name, values in self.columns.items()}
        return replace(self, rows=self.rows.keep(mask), columns=columns)


def read_part(
    database: Database, table: str, report: str, kind: Kind, fields: Sequence[Field], where: str = "1"
) -> Part | None:
    """The rows of a table that have valid times, None where the table is absent, empty or has no times."""
    if not database.has(table, "start", "end"):
        return None
    part = Part(table, report, kind, _valid(database, table, database.read(table, fields, where)), fields)
    return part if len(part) else None


def _valid(database: Database, table: str, rows: Rows) -> Rows:
    """Without rows that have no times, or end before they start; both zero is how CUPTI says that it has none."""
    start, duration = rows.columns["start"], rows.columns["duration"]
    valid = (duration >= 0) & np.isfinite(start) & ((start != 0) | (duration != 0))
    bad = np.flatnonzero(~valid)
    if not len(bad):
        return rows
    text = f"{number_of(len(bad), 'row')} left out, without valid times"
    database.issues.append(
        Issue(Level.DATA_LOSS, text, Location(database.path, int(rows.ids[bad[0]]), table=table, field="start"))
    )
    return rows.keep(valid)


def finish(part: Part, database: Database, reader: str, version: str) -> Table:
    """The table of a part: its figures under their activity columns, and where each came from."""
    read = {item.name: item for item in part.fields if item.name in part.rows.columns and not item.name.startswith("_")}
    columns: dict[str, npt.NDArray[Any]] = {name: part.rows.columns[name] for name in read if name not in part.columns}
    columns.update(part.columns)
    reasons = {name: codes for name, values in columns.items() if (codes := _gaps(name, values)) is not None}
    columns = {name: _typed(name, values) for name, values in columns.items()}
    columns.setdefault("kind", np.full(len(part), part.kind.value, dtype=object))
    columns.setdefault("count", np.ones(len(part), dtype=np.int64))
    columns["line"] = part.rows.ids
    labels: Mapping[str, str] = {**{name: item.label for name, item in read.items()}, **part.labels}
    units = {name: item.unit for name, item in read.items()}
    source = Source(
        path=database.path,
        reader=reader,
        tool="nsys",
        report=part.report,
        version=version,
        rows=len(part),
        columns={name: (ColumnOrigin(label, None, units.get(name, "")),) for name, label in labels.items()},
        reasons=reasons,
        available=database.tables[part.name],
        table=part.name,
    )
    return Table(source, columns)


def _gaps(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8] | None:
    if values.dtype != np.float64 or name in _WITHOUT_REASON:
        return None
    missing = np.isnan(values)
    return np.where(missing, Missing.EMPTY, Missing.PRESENT).astype(np.uint8) if missing.any() else None


def _typed(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    contract = ACTIVITY_COLUMNS.get(name)
    return whole(values) if contract is not None and contract.dtype == "int64" else values


def whole(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Integers; -1 where there is none."""
    integers: npt.NDArray[np.int64] = np.nan_to_num(values, nan=-1.0).astype(np.int64)
    return integers
