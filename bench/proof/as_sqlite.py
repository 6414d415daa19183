"""A Nsight Systems SQLite export of a case, for tools that read nothing else.

Of the proof's timeline captures only the CSV traces were kept. The database is made of the very same rows: schema, enum
tables, GPU and export version are those of a real export by the same ``nsys`` on the same kind of machine
(``fixtures/nsys-sqlite``), its own events are removed, and each row of the traces becomes one row of the table it came
from. Synchronizations have no trace of their own; their rows are made of the API calls that cause them. What the traces
do not hold (local memory, OS calls, profiler overhead) stays empty.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).resolve().parents[2] / "fixtures/nsys-sqlite/2025.3-h200-amp/amp_fp16.sqlite"
EMPTIED = ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "SYNCHRONIZATION")
OTHERS = ("StringIds", "NVTX_EVENTS", "OSRT_API", "PROFILER_OVERHEAD", "DIAGNOSTIC_EVENT")
TRACES = ("cuda_gpu_trace", "cuda_api_trace", "nvtx_pushpop_trace")
PUSH_POP = 59
SYNC_TYPES = {
    "cudaEventSynchronize": 1,
    "cudaStreamWaitEvent": 2,
    "cudaStreamSynchronize": 3,
    "cudaDeviceSynchronize": 4,
}
VM = 1 << 48
MB = 1e6
Record = dict[str, str]
Row = dict[str, Any]


class _Strings(dict[str, int]):
    """Ids of names, in the order in which they are first met."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self) + 1
        return self[name]


def write(archive: Path, target: Path) -> None:
    """Write ``target``, the SQLite export of a case's ``archive`` of CSV traces."""
    gpu, api, nvtx = (_records(archive, f"{name}.csv") for name in TRACES)
    shutil.copyfile(TEMPLATE, target)
    target.chmod(0o644)
    names = _Strings()
    pid = int(api[0]["Pid"])
    with sqlite3.connect(target) as database:
        for table in (*(f"CUPTI_ACTIVITY_KIND_{kind}" for kind in EMPTIED), *OTHERS):
            database.execute(f"DELETE FROM {table}")  # noqa: S608  names are the constants above
        database.execute("UPDATE TARGET_INFO_CUDA_DEVICE SET pid = ?", (pid,))
        enums = {
            table: dict(database.execute(f"SELECT label, id FROM {table}"))  # noqa: S608
            for table in ("ENUM_CUDA_MEMCPY_OPER", "ENUM_CUDA_MEM_KIND")
        }
        _insert(database, "KERNEL", _kernels(gpu, pid, names))
        _insert(database, "MEMCPY", _copies(gpu, pid, enums))
        _insert(database, "MEMSET", _sets(gpu, pid, enums))
        _insert(database, "RUNTIME", _calls(api, names))
        _insert(database, "SYNCHRONIZATION", _synchronizations(api, pid))
        _insert(database, "NVTX_EVENTS", _ranges(nvtx))
        database.executemany("INSERT INTO StringIds (value, id) VALUES (?, ?)", names.items())
    database.close()


def _records(archive: Path, member: str) -> list[Record]:
    with tarfile.open(archive) as file:
        data = file.extractfile(member)
        assert data is not None  # noqa: S101  every timeline capture has the three traces
        return list(csv.DictReader(io.StringIO(data.read().decode())))


def _insert(database: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    full = table if table in OTHERS else f"CUPTI_ACTIVITY_KIND_{table}"
    for row in rows:
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        database.execute(f"INSERT INTO {full} ({columns}) VALUES ({marks})", tuple(row.values()))  # noqa: S608


def _common(one: Record, pid: int) -> Row:
    """Columns that all work on the GPU has."""
    start = int(one["Start (ns)"])
    return {
        "start": start,
        "end": start + int(one["Duration (ns)"]),
        "deviceId": int(re.findall(r"\((\d+)\)$", one["Device"])[0]),
        "contextId": int(one["Ctx"]),
        "streamId": int(one["Strm"]),
        "correlationId": int(one["CorrId"]),
        "globalPid": VM + (pid << 24),
    }


def _kernels(gpu: Iterable[Record], pid: int, names: _Strings) -> Iterator[Row]:
    for number, one in enumerate((one for one in gpu if one["GrdX"]), 1):
        sizes = {
            f"{column}{axis}": int(one[f"{head}{axis}"])
            for column, head in (("grid", "Grd"), ("block", "Blk"))
            for axis in "XYZ"
        }
        yield (
            _common(one, pid)
            | sizes
            | {
                "demangledName": names[one["Name"]],
                "shortName": names[short(one["Name"])],
                "launchType": 1,
                "registersPerThread": int(one["Reg/Trd"]),
                "staticSharedMemory": round(float(one["StcSMem (MB)"]) * MB),
                "dynamicSharedMemory": round(float(one["DymSMem (MB)"]) * MB),
                "localMemoryPerThread": 0,
                "localMemoryTotal": 0,
                "gridId": number,
            }
        )


def short(name: str) -> str:
    """The function's own name: no return type, namespaces, template arguments or parameters."""
    head = re.split(r"[<(]", name.replace("<unnamed>", "").removeprefix("void "), maxsplit=1)[0]
    return head.rpartition("::")[2] or head


def _copies(gpu: Iterable[Record], pid: int, enums: dict[str, dict[str, int]]) -> Iterator[Row]:
    for one in gpu:
        if found := re.fullmatch(r"\[CUDA memcpy (.+)\]", one["Name"]):
            yield _common(one, pid) | {
                "bytes": round(float(one["Bytes (MB)"]) * MB),
                "copyKind": enums["ENUM_CUDA_MEMCPY_OPER"][found[1]],
                "srcKind": enums["ENUM_CUDA_MEM_KIND"][one["SrcMemKd"]],
                "dstKind": enums["ENUM_CUDA_MEM_KIND"][one["DstMemKd"]],
                "copyCount": 1,
            }


def _sets(gpu: Iterable[Record], pid: int, enums: dict[str, dict[str, int]]) -> Iterator[Row]:
    for one in gpu:
        if one["Name"] == "[CUDA memset]":
            yield _common(one, pid) | {
                "value": 0,
                "bytes": round(float(one["Bytes (MB)"]) * MB),
                "memKind": enums["ENUM_CUDA_MEM_KIND"][one["SrcMemKd"]],
            }


def _calls(api: Iterable[Record], names: _Strings) -> Iterator[Row]:
    for one in api:
        start = int(one["Start (ns)"])
        yield {
            "start": start,
            "end": start + int(one["Duration (ns)"]),
            "eventClass": int(one["Name"].startswith("cuda")),
            "globalTid": VM + (int(one["Pid"]) << 24) + int(one["Tid"]),
            "correlationId": int(one["CorrID"]),
            "nameId": names[one["Name"]],
            "returnValue": int(one["Result"]),
        }


def _synchronizations(api: Iterable[Record], pid: int) -> Iterator[Row]:
    for one in api:
        kind = SYNC_TYPES.get(one["Name"].partition("_v")[0])
        if kind is not None:
            start = int(one["Start (ns)"])
            yield {
                "start": start,
                "end": start + int(one["Duration (ns)"]),
                "deviceId": 0,
                "contextId": 1,
                "streamId": 7,
                "correlationId": int(one["CorrID"]),
                "globalPid": VM + (pid << 24),
                "syncType": kind,
                "eventId": -1,
            }


def _ranges(nvtx: Iterable[Record]) -> Iterator[Row]:
    for one in nvtx:
        yield {
            "start": int(one["Start (ns)"]),
            "end": int(one["End (ns)"]),
            "eventType": PUSH_POP,
            "text": one["Name"].removeprefix(":"),
            "globalTid": VM + (int(one["PID"]) << 24) + int(one["TID"]),
            "domainId": 0,
        }
