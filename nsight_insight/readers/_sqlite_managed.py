"""Managed memory: page faults of the host and of the GPU, and why pages moved."""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.readers._sqlite_database import Database, Field, plain
from nsight_insight.readers._sqlite_gpu import MEMCPY, enum_labels
from nsight_insight.readers._sqlite_sums import too_many
from nsight_insight.readers._sqlite_tables import PROCESS, TIMES, Part, read_part, whole

GPU_FAULTS: Final = "CUDA_UM_GPU_PAGE_FAULT_EVENTS"
CPU_FAULTS: Final = "CUDA_UM_CPU_PAGE_FAULT_EVENTS"
GPU_REPORT: Final = "um_gpu_page_faults"
CPU_REPORT: Final = "um_cpu_page_faults"
"""Not reports of ``nsys stats``, which prints sums by address only."""
_AT: Final = Field("duration", "0", ("start",), "start", "ns")
"""A fault of the host is a moment."""
_CAUSES: Final = {
    0: "unknown", 1: "user prefetch", 2: "page fault", 3: "speculative prefetch", 4: "eviction", 5: "access counters",
}  # fmt: skip
"""CUpti_ActivityUnifiedMemoryMigrationCause; the labels of an export spell one of them wrongly."""
_ACCESS: Final = {0: "unknown", 1: "read", 2: "write", 3: "atomic", 4: "prefetch"}


def read_faults(database: Database) -> list[Part]:
    """Page faults of the GPU, each row a group of them that was served together, and of the host, one a row."""
    return [part for part in (_gpu(database), _cpu(database)) if part is not None]


def _gpu(database: Database) -> Part | None:
    if too_many(database, GPU_FAULTS, left_out=True):
        return None
    number, access = plain("_faults", "numberOfPageFaults"), plain("_access", "faultAccessType")
    fields = (*TIMES, PROCESS, plain("device", "deviceId"), number, access)
    part = read_part(database, GPU_FAULTS, GPU_REPORT, Kind.FAULT, fields)
    if part is not None:
        part.columns["count"] = np.maximum(whole(part.figure("_faults")), 1)
        part.labels["count"] = "numberOfPageFaults"
        texts = {code: f"[GPU page fault {what}]" for code, what in _ACCESS.items()}
        part.columns["name"] = _texts(part.figure("_access"), texts, "[GPU page fault unknown]")
        part.labels["name"] = "faultAccessType"
    return part


def _cpu(database: Database) -> Part | None:
    if not database.has(CPU_FAULTS, "start") or too_many(database, CPU_FAULTS, left_out=True):
        return None
    rows = database.read(CPU_FAULTS, (plain("start", "start", "ns"), _AT, PROCESS))
    if not len(rows):
        return None
    part = Part(CPU_FAULTS, CPU_REPORT, Kind.FAULT, rows, (plain("start", "start", "ns"), _AT, PROCESS))
    part.columns["name"] = np.full(len(part), "[CPU page fault]", dtype=object)
    return part


def add_causes(database: Database, part: Part) -> None:
    """Why each copy of managed memory was made, "" for other copies and in exports that do not say (2020)."""
    if part.name != MEMCPY or "_cause" not in part.rows.columns:
        return
    known = enum_labels(database, "ENUM_CUDA_UNIF_MEM_MIGRATION", {})
    labels = {**{code: label.lower() for code, label in known.items()}, **_CAUSES}
    moved = np.char.find(part.columns["name"].astype(str), "Unified") >= 0
    causes = _texts(part.figure("_cause"), {**labels, 0: ""}, "")
    part.columns["cause"] = np.where(moved, causes, "").astype(object)
    part.labels["cause"] = "migrationCause"


def _texts(
    codes: np.ndarray[tuple[int], np.dtype[np.float64]], known: dict[int, str], other: str
) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    keys, places = np.unique(whole(codes), return_inverse=True)
    return np.array([known.get(key, other) for key in keys.tolist()] or [other], dtype=object)[places]
