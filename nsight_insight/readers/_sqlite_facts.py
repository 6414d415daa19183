"""What an export says about the run itself, as ``Source.facts``."""

from __future__ import annotations

import re
from typing import Final

from nsight_insight.readers._sqlite_database import Database
from nsight_insight.readers._sqlite_gpu import KERNEL

_ENVIRONMENT: Final = "TARGET_INFO_SYSTEM_ENV"
_OVERHEAD: Final = "PROFILER_OVERHEAD"
_VERSION: Final = re.compile(r"\d{3}(?:\.\d+){1,2}")


def capture_facts(database: Database) -> dict[str, str | float]:
    """Driver version, and the time the profiler worked between the first and the last kernel (intervals added up)."""
    facts: dict[str, str | float] = {}
    if driver := _driver(database):
        facts["driver"] = driver
    if overhead := _overhead_ns(database):
        facts["overhead_ns"] = overhead
    return facts


def _driver(database: Database) -> str:
    if not database.has(_ENVIRONMENT, "name", "value"):
        return ""
    sql = f"SELECT value FROM {_ENVIRONMENT} WHERE name = 'NvDriverVersion'"  # noqa: S608
    found = _VERSION.fullmatch(str(database.first(sql, _ENVIRONMENT) or ""))
    return found[0] if found else ""


def _overhead_ns(database: Database) -> float:
    if not (database.has(_OVERHEAD, "start", "end") and database.has(KERNEL, "start", "end")):
        return 0.0
    window = f'(SELECT MIN("start") AS first, MAX("end") AS last FROM {KERNEL})'  # noqa: S608
    sql = (
        f'SELECT SUM(MIN("end", last) - MAX("start", first)) FROM {_OVERHEAD}, {window} '  # noqa: S608
        'WHERE "end" > first AND "start" < last AND "end" >= "start"'
    )
    total = database.first(sql, _OVERHEAD)
    return float(total) if isinstance(total, int | float) else 0.0
