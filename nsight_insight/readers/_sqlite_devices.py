"""GPUs of a capture: which of those listed did the work, and what the export says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import Device, Ints
from nsight_insight.readers._sqlite_database import Database
from nsight_insight.readers._sqlite_run import digest_of, host_digest
from nsight_insight.readers._sqlite_tables import Part, whole

_GPUS: Final = "TARGET_INFO_GPU"
_OLD_GPUS: Final = "TARGET_INFO_CUDA_GPU"
_NUMBERS: Final = "TARGET_INFO_CUDA_DEVICE"
_KILO: Final = 1000.0
"""Exports of 2020 and 2021 give kHz and kB/s."""

Pair = tuple[int, int]
"""Process and its own number of a device."""


@dataclass(frozen=True)
class _Gpu:
    """One line of a GPU table; 0 where the driver does not say."""

    id: int
    cuda: int
    table: str
    row: int
    name: str = ""
    cc: float = 0.0
    sms: float = 0.0
    clock: float = 0.0
    bandwidth: float = 0.0
    uuid: str = ""
    bus: str = ""


def number_devices(database: Database, parts: Sequence[Part]) -> list[Device]:
    """Fill ``device`` of every part and describe the devices that were used.

    CUDA numbers devices per process. Those numbers are kept, unless one number means several GPUs or one GPU has
    several (CUDA_VISIBLE_DEVICES differs between processes): then the export's own GPU ids take their place.
    """
    gpus, mapping = _read_gpus(database), _read_numbers(database)
    used = {pair for part in parts for pair in _pairs(part)}
    physical = {pair: mapping[pair] for pair in used if pair in mapping}
    renumber = len(physical) == len(used) and _contradict(physical)
    index = {pair: physical[pair] if renumber else pair[1] for pair in used}
    if renumber:
        text = "processes number the GPUs differently; devices are numbered by the export's GPU ids"
        database.issues.append(Issue(Level.INFO, text, Location(database.path, table=_NUMBERS)))
    for part in parts:
        _fill(part, index)
    found = {index[pair]: _gpu_of(pair, physical, gpus) for pair in sorted(used)}
    certain = {index[pair] for pair in physical} if len(gpus) > 1 else set(found)
    host = host_digest(database)
    return [
        _device(number, gpu, database.path, _identity(gpu, host) if number in certain else "")
        for number, gpu in sorted(found.items())
        if gpu and number >= 0
    ]


def _identity(gpu: _Gpu, host: str) -> str:
    """Tells GPUs of all machines apart; a bus address does only together with its machine."""
    if gpu.uuid:
        return f"uuid:{digest_of(gpu.uuid)}"
    return f"bus:{digest_of(host, gpu.bus)}" if host and gpu.bus else ""


def _pairs(part: Part) -> list[Pair]:
    return distinct_pairs(whole(part.figure("process")), whole(part.figure("device")))


def distinct_pairs(first: Ints, second: Ints) -> list[Pair]:
    """Every combination of two columns of numbers below 2**31, -1 included."""
    keys = np.unique((first + 1) << 32 | (second + 1)).tolist()
    return [((key >> 32) - 1, (key & 0xFFFFFFFF) - 1) for key in keys]


def _fill(part: Part, index: Mapping[Pair, int]) -> None:
    process, device = whole(part.figure("process")), whole(part.figure("device"))
    numbers = device.copy()
    for (owner, number), new in index.items():
        if new != number:
            numbers[(process == owner) & (device == number)] = new
    part.columns["device"] = numbers


def _contradict(physical: Mapping[Pair, int]) -> bool:
    """True when a number stands for several GPUs, or a GPU has several numbers."""
    links = {(number, gpu) for (_, number), gpu in physical.items()}
    return len(links) != len({number for number, _ in links}) or len(links) != len({gpu for _, gpu in links})


def _gpu_of(pair: Pair, physical: Mapping[Pair, int], gpus: Sequence[_Gpu]) -> _Gpu | None:
    """The GPU behind a process's device number: by the export's own table, by CUDA number, by id."""
    if pair in physical:
        return next((gpu for gpu in gpus if gpu.id == physical[pair]), None)
    distinct = len({gpu.cuda for gpu in gpus}) == len(gpus)
    return next((gpu for gpu in gpus if (gpu.cuda if distinct else gpu.id) == pair[1]), None)


def _read_numbers(database: Database) -> dict[Pair, int]:
    if not database.has(_NUMBERS, "gpuId", "cudaId", "pid"):
        return {}
    rows = database.fetch(f"SELECT pid, cudaId, gpuId FROM {_NUMBERS}", _NUMBERS)  # noqa: S608
    return {(pid, cuda): gpu for pid, cuda, gpu in rows if all(isinstance(cell, int) for cell in (pid, cuda, gpu))}


def _read_gpus(database: Database) -> list[_Gpu]:
    """GPUs that can run CUDA; exports also list the other display adapters of the machine."""
    if database.has(_GPUS, "id", "smCount"):
        columns = {
            "id": "id", "cuda": "cuDevice", "name": "name", "major": "computeMajor", "minor": "computeMinor",
            "sms": "smCount", "clock": "clockRate", "bandwidth": "memoryBandwidth", "uuid": "uuid",
            "bus": "busLocation",
        }  # fmt: skip
        gpus = _lines(database, _GPUS, columns, 1.0)
        return [gpu for gpu in gpus if gpu.cc] or gpus
    if database.has(_OLD_GPUS, "deviceId"):
        columns = {
            "id": "deviceId", "cuda": "deviceId", "name": "name", "major": "computeCapabilityMajor",
            "minor": "computeCapabilityMinor", "sms": "numMultiprocessors", "clock": "coreClockRate",
            "bandwidth": "globalMemoryBandwidth",
        }  # fmt: skip
        return _lines(database, _OLD_GPUS, columns, _KILO)
    if database.has(_GPUS, "deviceId", "name"):
        return _lines(database, _GPUS, {"id": "deviceId", "cuda": "deviceId", "name": "name"}, 1.0)
    return []


def _lines(database: Database, table: str, columns: Mapping[str, str], scale: float) -> list[_Gpu]:
    there = {key: column for key, column in columns.items() if database.has(table, column)}
    chosen = ", ".join(["rowid", *there.values()])
    found: dict[int, _Gpu] = {}
    for row, *cells in database.fetch(f"SELECT {chosen} FROM {table} ORDER BY rowid", table):  # noqa: S608
        line = dict(zip(there, cells, strict=True))
        figures = {key: float(cell) if isinstance(cell, int | float) else 0.0 for key, cell in line.items()}
        gpu = _Gpu(
            id=int(figures["id"]),
            cuda=int(figures.get("cuda", figures["id"])),
            table=table,
            row=int(row),
            name=str(line.get("name") or ""),
            cc=round(figures.get("major", 0.0) + figures.get("minor", 0.0) / 10, 1),
            sms=figures.get("sms", 0.0),
            clock=figures.get("clock", 0.0) * scale,
            bandwidth=figures.get("bandwidth", 0.0) * scale,
            uuid=str(line.get("uuid") or ""),
            bus=str(line.get("bus") or ""),
        )
        found.setdefault(gpu.id, gpu)
    return list(found.values())


def _device(index: int, gpu: _Gpu, path: str, identity: str) -> Device:
    return Device(
        index,
        gpu.name,
        cc=gpu.cc or None,
        sm_count=int(gpu.sms) or None,
        sm_clock_hz=gpu.clock or None,
        memory_bandwidth=gpu.bandwidth or None,
        location=Location(path, gpu.row, table=gpu.table, field="name"),
        identity=identity,
    )
