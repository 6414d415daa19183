# ruff: noqa: S608 - statements on copies
"""One nsys export made into one file per GPU, as a job under one profiler per rank would have written them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

PLACED: Final = ("KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION", "GRAPH_TRACE")
"""CUPTI_ACTIVITY_KIND_... with a device."""
IDENTITY: Final = ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE")


def split_by_gpu(source: Path, folder: Path, *, identified: bool = True, later: int = 0) -> list[Path]:
    """``rank0.sqlite`` ... with one GPU each, which all of them call device 0, as with CUDA_VISIBLE_DEVICES.

    Args:
        source: export of a job with one process per GPU.
        folder: where the files go.
        identified: keep the tables that say which GPU a number means.
        later: ns by which each further rank's session began after the one before it.
    """
    with closing(sqlite3.connect(f"file:{source}?mode=ro&immutable=1", uri=True)) as database:
        pairs = f"SELECT DISTINCT deviceId, globalPid FROM {table('KERNEL')} ORDER BY 1"
        places: list[tuple[int, int]] = database.execute(pairs).fetchall()
    files = [folder / f"rank{rank}.sqlite" for rank in range(len(places))]
    for rank, (path, (gpu, process)) in enumerate(zip(files, places, strict=True)):
        shutil.copyfile(source, path)
        path.chmod(0o644)
        execute(path, *_only(path, gpu, process), *_shifted(path, rank * later))
        if not identified:
            execute(path, *(f"DROP TABLE IF EXISTS {name}" for name in IDENTITY))
    return files


def table(what: str) -> str:
    """Name of an activity table."""
    return f"CUPTI_ACTIVITY_KIND_{what}"


def execute(path: Path, *statements: str) -> Path:
    """Change an export."""
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def _only(path: Path, gpu: int, process: int) -> Iterator[str]:
    tables = columns(path)
    for name in tables:
        if {"start", "end", "globalPid"} <= tables[name]:
            yield f"DELETE FROM {name} WHERE globalPid <> {process}"
        if {"start", "end", "globalTid"} <= tables[name]:
            yield f"DELETE FROM {name} WHERE globalTid >> 24 <> {process} >> 24"
    for name in tables.keys() & {table(what) for what in PLACED}:
        yield f"UPDATE {name} SET deviceId = deviceId - {gpu}"
    if "TARGET_INFO_CUDA_DEVICE" in tables:
        yield f"DELETE FROM TARGET_INFO_CUDA_DEVICE WHERE pid <> {process >> 24 & 0xFFFFFF} OR cudaId <> {gpu}"
        yield "UPDATE TARGET_INFO_CUDA_DEVICE SET cudaId = 0"


def _shifted(path: Path, later: int) -> Iterator[str]:
    tables = columns(path)
    for name in tables if later else ():
        if {"start", "end"} <= tables[name] and {"globalPid", "globalTid"} & tables[name]:
            yield f'UPDATE {name} SET "start" = "start" - {later}, "end" = "end" - {later}'
    for name in ("utcEpochNs", "systemClockNs"):
        if later and name in tables.get("TARGET_INFO_SESSION_START_TIME", ()):
            yield f"UPDATE TARGET_INFO_SESSION_START_TIME SET {name} = {name} + {later}"


def columns(path: Path) -> dict[str, set[str]]:
    """Columns of each table."""
    with closing(sqlite3.connect(path)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: {str(row[1]) for row in database.execute(f'PRAGMA table_info("{name}")')} for name in names}
