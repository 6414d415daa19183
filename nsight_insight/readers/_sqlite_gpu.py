"""GPU work: kernels, copies, sets, CUDA graphs traced as a whole, and waits for the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.readers._nsys_columns import mapped
from nsight_insight.readers._nsys_memory import copy_direction, memory_place
from nsight_insight.readers._sqlite_database import Database, Field, Floats, Objects, number_of, plain
from nsight_insight.readers._sqlite_sums import sum_up, too_many
from nsight_insight.readers._sqlite_tables import PROCESS, TIMES, Part, read_part

KERNEL: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
MEMCPY: Final = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET: Final = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH: Final = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
SYNC: Final = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"

REPORT: Final = "cuda_gpu_trace"
SYNC_REPORT: Final = "cuda_sync_trace"
"""Not a report of ``nsys stats``, which prints none of the waits."""

_PLACE: Final = (
    *TIMES, PROCESS, plain("device", "deviceId"), plain("context", "contextId"), plain("stream", "streamId"),
    plain("correlation", "correlationId"),
)  # fmt: skip
FIELDS: Final[dict[str, tuple[Field, ...]]] = {
    KERNEL: (
        *_PLACE,
        *(plain(f"{name}_{axis}", f"{name}{axis.upper()}") for name in ("grid", "block") for axis in "xyz"),
        plain("registers", "registersPerThread"),
        plain("shared_static", "staticSharedMemory", "byte"),
        plain("shared_dynamic", "dynamicSharedMemory", "byte"),
        plain("_name", "demangledName"), plain("_node", "graphNodeId"),
    ),
    MEMCPY: (
        *_PLACE, plain("bytes", "bytes", "byte"), plain("_kind", "copyKind"), plain("_from", "srcKind"),
        plain("_to", "dstKind"), plain("_node", "graphNodeId"), plain("_cause", "migrationCause"),
    ),
    MEMSET: (*_PLACE, plain("bytes", "bytes", "byte"), plain("_from", "memKind"), plain("_node", "graphNodeId")),
    GRAPH: (*_PLACE, plain("_graph", "graphId")),
    SYNC: (*_PLACE, plain("_kind", "syncType")),
}  # fmt: skip

_GROUPS: Final = frozenset(
    {"process", "device", "_name", "_kind", "_from", "_to", "_graph", "_cause"}
    | {f"{name}_{axis}" for name in ("grid", "block") for axis in "xyz"}
)
_SUMS: Final = {
    KERNEL: "cuda_gpu_kern_gb_sum", MEMCPY: "cuda_gpu_mem_time_sum", MEMSET: "cuda_gpu_mem_time_sum",
    GRAPH: "cuda_graph_sum",
}  # fmt: skip

COPY_LABELS: Final = {
    0: "Unknown", 1: "Host-to-Device", 2: "Device-to-Host", 3: "Host-to-Array", 4: "Array-to-Host",
    5: "Array-to-Array", 6: "Array-to-Device", 7: "Device-to-Array", 8: "Device-to-Device", 9: "Host-to-Host",
    10: "Peer-to-Peer", 11: "Unified Host-to-Device", 12: "Unified Device-to-Host", 13: "Unified Device-to-Device",
}  # fmt: skip
MEMORY_LABELS: Final = {
    0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed", 5: "Device Static", 6: "Managed Static",
    7: "Unknown",
}  # fmt: skip
SYNC_LABELS: Final = {0: "Unknown", 1: "Event sync", 2: "Stream wait sync", 3: "Stream sync", 4: "Context sync"}
"""Exports before schema 3.0.0 (2022.4) have codes but no ENUM tables."""
UNNAMED: Final = "[kernel without a name]"


def read_gpu(database: Database) -> list[Part]:
    """Kernels, copies, sets and graphs, as far as the database has them."""
    readers: dict[str, tuple[Kind, Callable[[Database, Part], None]]] = {
        KERNEL: (Kind.KERNEL, _name_kernels),
        MEMCPY: (Kind.MEMCPY, _name_copies),
        MEMSET: (Kind.MEMSET, _name_sets),
        GRAPH: (Kind.GRAPH, _name_graphs),
    }
    parts = []
    for table, (kind, name) in readers.items():
        part = _summed(database, table, kind) if too_many(database, table) else _each(database, table, kind)
        if part is not None:
            name(database, part)
            parts.append(part)
    return parts


def _each(database: Database, table: str, kind: Kind) -> Part | None:
    return read_part(database, table, REPORT, kind, FIELDS[table])


def _summed(database: Database, table: str, kind: Kind) -> Part | None:
    groups = [item for item in FIELDS[table] if item.name in _GROUPS]
    added = [item for item in FIELDS[table] if item.name == "bytes"]
    return sum_up(database, table, _SUMS[table], kind, groups, added)


def read_waits(database: Database) -> Part | None:
    """Waits of the host for an event, a stream or a context, and of streams for events."""
    if too_many(database, SYNC, left_out=True):
        return None
    part = read_part(database, SYNC, SYNC_REPORT, Kind.SYNC, FIELDS[SYNC])
    if part is not None:
        labels = enum_labels(database, "ENUM_CUPTI_SYNC_TYPE", SYNC_LABELS)
        part.columns["name"] = _labelled(part.figure("_kind"), labels, "[CUDA {}]")
        part.labels["name"] = "syncType"
    return part


def _name_kernels(database: Database, part: Part) -> None:
    names = database.names(part.figure("_name"))
    empty = names == ""
    if empty.any():
        names[empty] = _short_names(database, part)[empty]
        unnamed = int((names == UNNAMED).sum())
        if unnamed:
            text = f"{number_of(unnamed, 'kernel')} without a name among the texts of StringIds"
            place = Location(database.path, int(part.rows.ids[empty][0]), table=part.name, field="demangledName")
            database.issues.append(Issue(Level.DATA_LOSS, text, place))
    part.columns["name"] = names
    part.labels["name"] = "demangledName"


def _short_names(database: Database, part: Part) -> Objects:
    """Function names without template arguments, for exports trimmed to those."""
    short = database.read(part.name, (plain("_short", "shortName"),))
    if "_short" not in short.columns or not len(short):
        return np.full(len(part), UNNAMED, dtype=object)
    place = np.minimum(np.searchsorted(short.ids, part.rows.ids), len(short) - 1)
    return database.names(short.columns["_short"][place], UNNAMED)


def _name_copies(database: Database, part: Part) -> None:
    labels = enum_labels(database, "ENUM_CUDA_MEMCPY_OPER", COPY_LABELS)
    part.columns["name"] = _labelled(part.figure("_kind"), labels, "[CUDA memcpy {}]")
    part.columns["direction"] = mapped(part.columns["name"], copy_direction)
    part.labels.update(name="copyKind", direction="copyKind")
    _add_place(database, part, "src_kind", "_from", "srcKind")
    _add_place(database, part, "dst_kind", "_to", "dstKind")


def _name_sets(database: Database, part: Part) -> None:
    part.columns["name"] = np.full(len(part), "[CUDA memset]", dtype=object)
    _add_place(database, part, "src_kind", "_from", "memKind")


def _name_graphs(database: Database, part: Part) -> None:
    text = "CUDA graphs were traced as a whole: their kernels are not known; --cuda-graph-trace=node lists them"
    database.issues.append(Issue(Level.INFO, text, Location(database.path, table=part.name)))
    part.columns["name"] = _labelled(part.figure("_graph"), {}, "[CUDA graph {}]")
    part.labels["name"] = "graphId"


def _add_place(database: Database, part: Part, column: str, figure: str, label: str) -> None:
    labels = enum_labels(database, "ENUM_CUDA_MEM_KIND", MEMORY_LABELS)
    part.columns[column] = mapped(_labelled(part.figure(figure), labels, "{}"), memory_place)
    part.labels[column] = label


def enum_labels(database: Database, table: str, known: dict[int, str]) -> dict[int, str]:
    """Labels of an enumeration, as the export has them."""
    if not database.has(table, "id", "label"):
        return known
    rows = database.fetch(f"SELECT id, label FROM {table}", table)  # noqa: S608
    return known | {key: label for key, label in rows if isinstance(key, int) and isinstance(label, str) and label}


def _labelled(codes: Floats, labels: dict[int, str], pattern: str) -> Objects:
    keys, places = np.unique(np.nan_to_num(codes, nan=-1.0).astype(np.int64), return_inverse=True)
    texts = [pattern.format(labels.get(key, key if key >= 0 else "unknown")) for key in keys.tolist()]
    return np.array(texts, dtype=object)[places]
