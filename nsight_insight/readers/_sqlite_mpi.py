"""MPI calls."""

from __future__ import annotations

from typing import Final

from nsight_insight.model.columns import Kind
from nsight_insight.readers._sqlite_database import Database, plain
from nsight_insight.readers._sqlite_sums import sum_up, too_many
from nsight_insight.readers._sqlite_tables import THREAD, TIMES, Part, read_part

MPI: Final = (
    "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS",
)  # fmt: skip
REPORT: Final = "mpi_event_trace"
_FIELDS: Final = (*TIMES, *THREAD, plain("_name", "textId"), plain("bytes", "size", "byte"))


def read_mpi(database: Database) -> list[Part]:
    """Calls by table of the export; summed up where they are too many."""
    parts = []
    for table in MPI:
        if too_many(database, table):
            groups = [item for item in _FIELDS if item.name in ("process", "_name")]
            part = sum_up(database, table, "mpi_event_sum", Kind.MPI, groups)
        else:
            part = read_part(database, table, REPORT, Kind.MPI, _FIELDS)
        if part is not None:
            part.columns["name"] = database.names(part.figure("_name"), "[MPI call without a name]")
            part.labels["name"] = "textId"
            parts.append(part)
    return parts
