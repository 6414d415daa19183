"""Where and when an export was captured: what tells the files of several ranks apart and puts them on one clock."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from nsight_insight.model.profile import Run
from nsight_insight.readers._sqlite_database import Database

_ENVIRONMENT: Final = "TARGET_INFO_SYSTEM_ENV"
_START: Final = "TARGET_INFO_SESSION_START_TIME"
_RANKS: Final = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "RANK")
"""Variables that launchers set per process: Open MPI, PMIx, MPICH and Intel MPI, Slurm, torchrun."""


def run_of(database: Database) -> Run:
    """Machine, start and rank of the capture; what the export does not say stays unknown."""
    began, system = _whole(database, "utcEpochNs"), _whole(database, "systemClockNs")
    booted = began - system if began is not None and system is not None else None
    return Run(host_digest(database), began, booted, _rank(_environment(database, "DeviceEnvironment")))


def host_digest(database: Database) -> str:
    """Digest of the machine's name; "" where the export does not name it."""
    name = _environment(database, "Hostname")
    return digest_of(name) if name else ""


def digest_of(*texts: str) -> str:
    """A short text that is equal for equal texts and tells nothing about them."""
    return hashlib.blake2b("\x00".join(texts).encode(errors="replace"), digest_size=12).hexdigest()


def _environment(database: Database, name: str) -> str:
    if not database.has(_ENVIRONMENT, "name", "value"):
        return ""
    sql = f"SELECT value FROM {_ENVIRONMENT} WHERE name = ? ORDER BY rowid"  # noqa: S608
    return next((str(row[0]) for row in database.fetch(sql, _ENVIRONMENT, (name,)) if row[0]), "")


def _whole(database: Database, column: str) -> int | None:
    if not database.has(_START, column):
        return None
    value = database.first(f"SELECT {column} FROM {_START}", _START)  # noqa: S608
    return value if isinstance(value, int) and value > 0 else None


def _rank(environment: str) -> int | None:
    """The rank that the launcher gave the profiler; None without any, or where variables contradict each other."""
    names = "|".join(_RANKS)
    found = {int(number) for number in re.findall(rf"(?:^|;)(?:{names})=(\d{{1,7}})(?=;|$)", environment)}
    return found.pop() if len(found) == 1 else None
