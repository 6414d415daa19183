"""Small made-up nsys exports: tables as lists of rows, columns as the rows have them."""

# ruff: noqa: S608 - table and column names come from the tests

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.readers import nsys_sqlite
from nsight_insight.readers.text import open_path

Row = Mapping[str, Any]

K, M, S = (f"CUPTI_ACTIVITY_KIND_{name}" for name in ("KERNEL", "MEMCPY", "MEMSET"))
R, G, W = (f"CUPTI_ACTIVITY_KIND_{name}" for name in ("RUNTIME", "GRAPH_TRACE", "SYNCHRONIZATION"))
NVTX, OSRT, GPU = "NVTX_EVENTS", "OSRT_API", "TARGET_INFO_GPU"
MACHINE = 1 << 48
"""The virtual machine's part of a global id."""


def of_process(process: int) -> int:
    return MACHINE | process << 24


def of_thread(process: int, thread: int) -> int:
    return of_process(process) | thread


def kernel(start: int, end: int, correlation: int = 1, name: int = 1, process: int = 100, **more: object) -> Row:
    return {
        "start": start, "end": end, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": correlation,
        "globalPid": of_process(process), "demangledName": name, "shortName": name, "registersPerThread": 32,
        "gridX": 4, "gridY": 2, "gridZ": 1, "blockX": 128, "blockY": 1, "blockZ": 1, "staticSharedMemory": 16,
        "dynamicSharedMemory": 24, "graphNodeId": None, **more,
    }  # fmt: skip


def copy(start: int, end: int, correlation: int = 1, process: int = 100, **more: object) -> Row:
    return {
        "start": start, "end": end, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": correlation,
        "globalPid": of_process(process), "bytes": 1000, "copyKind": 1, "srcKind": 0, "dstKind": 2, **more,
    }  # fmt: skip


def call(
    start: int, end: int, correlation: int = 1, name: int = 2, process: int = 100, thread: int = 100, **more: object
) -> Row:
    return {
        "start": start, "end": end, "eventClass": 0, "globalTid": of_thread(process, thread),
        "correlationId": correlation, "nameId": name, "returnValue": 0, **more,
    }  # fmt: skip


def nvtx(
    start: int, end: int | None, text: str | None = None, process: int = 100, thread: int = 100, **more: object
) -> Row:
    return {
        "start": start, "end": end, "eventType": 59, "text": text, "textId": None, "domainId": 0,
        "globalTid": of_thread(process, thread), **more,
    }  # fmt: skip


def gpu(number: int = 0, **more: object) -> Row:
    return {
        "vmId": MACHINE, "id": number, "name": "NVIDIA H200", "memoryBandwidth": 4_800_000_000_000,
        "clockRate": 1_980_000_000, "smCount": 132, "cuDevice": number, "computeMajor": 9, "computeMinor": 0, **more,
    }  # fmt: skip


def strings(*texts: str | bytes) -> list[Row]:
    """Texts numbered from 1."""
    return [{"id": number, "value": text} for number, text in enumerate(texts, 1)]


NAMES = strings("void gemm(float *)", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "scale", "step 0")
META = [{"name": "EXPORT_PRODUCT_VERSION", "value": "2025.3.2.474"}]


def export(path: Path, tables: Mapping[str, Iterable[Row]], *, meta: bool = True) -> Path:
    """An export with these tables; texts, version and one GPU are added where they are not given."""
    given = {"StringIds": NAMES, **({"META_DATA_EXPORT": META, GPU: [gpu()]} if meta else {}), **tables}
    connection = sqlite3.connect(path)
    for table, content in given.items():
        rows = list(content)
        columns = list(dict.fromkeys(column for row in rows for column in row)) or ["start", "end"]
        names = ", ".join(f'"{column}"' for column in columns)
        connection.execute(f'CREATE TABLE "{table}" ({names})')
        values = [tuple(_cell(row.get(column)) for column in columns) for row in rows]
        connection.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(columns))})', values)
        for row, cells in enumerate(rows, 1):
            for column, cell in cells.items():
                if isinstance(cell, bytes):  # text that is no UTF-8
                    connection.execute(
                        f'UPDATE "{table}" SET "{column}" = CAST(? AS TEXT) WHERE rowid = {row}', (cell,)
                    )
    connection.commit()
    connection.close()
    return path


def _cell(value: object) -> object:
    return None if isinstance(value, bytes) else value


def read(path: Path) -> ReadResult:
    return nsys_sqlite.read(open_path(path))


def read_of(folder: Path, tables: Mapping[str, Iterable[Row]], *, meta: bool = True) -> ReadResult:
    return read(export(folder / "made.sqlite", tables, meta=meta))


def table_of(result: ReadResult, table: str) -> Table:
    (found,) = (item for item in result.tables if item.source.table == table)
    return found


def texts(result: ReadResult, level: str) -> list[str]:
    return [issue.text for issue in result.issues if issue.level.label == level]
