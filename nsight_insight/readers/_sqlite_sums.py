"""Summaries made by the database, where single rows would be too many or are of no use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.readers._sqlite_database import Database, Field, Rows, number_of, plain, quoted
from nsight_insight.readers._sqlite_tables import DURATION, Part

MAX_ROWS: Final = 3_000_000
"""Rows of one table that are kept one by one: an activity row takes some 500 bytes."""
OSRT: Final = "OSRT_API"
_OSRT_CLASS: Final = 27
"""Event class of OS runtime functions; ``osrt_sum`` counts no others."""
_SUMMED: Final = ("duration", "count", "min", "max", "avg")


def too_many(database: Database, table: str, *, left_out: bool = False) -> bool:
    """True for a table that is not to be read row by row, which is said in an issue.

    ``left_out`` where the caller has no summary of it either.
    """
    rows = database.count(table)
    if rows <= MAX_ROWS:
        return False
    text = f"{number_of(rows, 'row')}, summed up by the database: nothing is known of order, gaps and single launches"
    issue = Issue(Level.INFO, text, Location(database.path, table=table))
    if left_out:
        issue = replace(issue, level=Level.DATA_LOSS, text=f"{number_of(rows, 'row')} left out, more than {MAX_ROWS:,}")
    database.issues.append(issue)
    return True


def sum_up(
    database: Database,
    table: str,
    report: str,
    kind: Kind,
    groups: Sequence[Field],
    added: Sequence[Field] = (),
    where: str = "1",
) -> Part | None:
    """One row per combination of the ``groups`` that exist, None where nothing is there to sum up.

    The row's number is that of the first row of its group. Figures in ``added`` are added up beside the durations.
    Median and deviation are left unknown: the database would have to sort every group for them.
    """
    if not database.has(table, *DURATION.needs):
        return None
    keys, more = ([item for item in items if database.has(table, *item.needs)] for items in (groups, added))
    time = DURATION.expression
    chosen = [
        *("MIN(rowid)", f"SUM({time})", "COUNT(*)", f"MIN({time})", f"MAX({time})"),
        *(item.expression for item in keys),
        *(f"SUM({item.expression})" for item in more),
    ]
    grouping = f"GROUP BY {', '.join(item.expression for item in keys)}" if keys else ""
    sql = f"SELECT {', '.join(chosen)} FROM {quoted(table)} WHERE ({where}) AND {time} >= 0 {grouping}"  # noqa: S608
    found = [row for row in database.fetch(sql, table) if row[2]]
    if not found:
        return None
    names = ["_row", "duration", "count", "min", "max", *(item.name for item in (*keys, *more))]
    columns = dict(zip(names, np.array(found, dtype=np.float64).T, strict=True))
    columns["avg"] = columns["duration"] / columns["count"]
    part = Part(table, report, kind, Rows(columns.pop("_row").astype(np.int64), columns), (*keys, *more))
    part.columns = {name: columns[name] for name in _SUMMED}
    part.labels = dict.fromkeys(_SUMMED, DURATION.label)
    return part


def sum_os_calls(database: Database) -> Part | None:
    """OS runtime calls by function."""
    where = f'"eventClass" = {_OSRT_CLASS}' if database.has(OSRT, "eventClass") else "1"
    part = sum_up(database, OSRT, "osrt_sum", Kind.OSRT, (plain("_name", "nameId"),), where=where)
    if part is not None:
        part.columns["name"] = database.names(part.figure("_name"))
        part.labels["name"] = "nameId"
    return part
