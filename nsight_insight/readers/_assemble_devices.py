"""GPUs: what several inputs say about each, merged by index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from nsight_insight.catalog.gpus import Gpu, find_gpu
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import Device, GpuSamples, Table
from nsight_insight.readers._assemble_ranks import Numbering
from nsight_insight.readers._assemble_stack import Stack

_T = TypeVar("_T")


def renumbered(tables: Iterable[Table], numbering: Numbering) -> list[Device]:
    """The devices of all tables, by their numbers in the profile."""
    return [
        replace(device, index=numbering.of(table.source.path, device.index))
        for table in tables
        for device in table.devices
    ]


def on_one_clock(tables: Iterable[Table], numbering: Numbering) -> tuple[GpuSamples, ...]:
    """The samples of all tables, by the numbers of devices and on the clock of the profile."""
    return tuple(
        replace(
            found,
            device=numbering.of(table.source.path, found.device),
            times=found.times + numbering.shift.get(table.source.path, 0.0),
        )
        for table in tables
        for found in table.samples
    )


def merge_devices(devices: Iterable[Device], gpu: Gpu | None) -> tuple[list[Device], list[Issue]]:
    """One entry per device index; ``gpu`` is what the user says they are."""
    by_index: dict[int, list[Device]] = defaultdict(list)
    for device in devices:
        by_index[device.index].append(device)
    if gpu is not None and not by_index:
        by_index[-1] = [Device(-1)]
    merged: list[Device] = []
    issues: list[Issue] = []
    for index in sorted(by_index):
        device, contradictions = _merge(by_index[index])
        if gpu is not None:
            device, contradictions = _overridden(device, gpu)
        elif device.cc is None and (known := find_gpu(device.name) if device.name else None):
            device = replace(device, cc=known.cc)
        merged.append(device)
        issues += contradictions
    return merged, issues


def _merge(devices: Sequence[Device]) -> tuple[Device, list[Issue]]:
    """What all say; where two contradict each other, nothing."""
    names = sorted({device.name for device in devices if device.name})
    named = [device.location for device in devices if device.name and device.location]
    location = next(iter(named), devices[0].location)
    index = devices[0].index
    if len(names) > 1:
        text = f"device {index} is {' and '.join(names)}: the inputs are from different machines, its peaks are unknown"
        return Device(index), [Issue(Level.INFO, text, location or Location("-"))]
    merged = Device(
        index,
        next(iter(names), ""),
        cc=_agreed({device.cc for device in devices}),
        sm_count=_agreed({device.sm_count for device in devices}),
        # Clocks vary from capture to capture; the lowest promises least.
        sm_clock_hz=min((d.sm_clock_hz for d in devices if d.sm_clock_hz is not None), default=None),
        memory_bandwidth=_agreed({device.memory_bandwidth for device in devices}),
        location=location,
    )
    return merged, []


def _agreed(values: set[_T | None]) -> _T | None:
    known = [value for value in values if value is not None]
    return known[0] if len(known) == 1 else None


def _overridden(device: Device, gpu: Gpu) -> tuple[Device, list[Issue]]:
    name = gpu.names[0] if gpu.names else gpu.id
    issues: list[Issue] = []
    known = find_gpu(device.name) if device.name else None
    if (known is not None and known.id != gpu.id) or (device.cc is not None and device.cc != gpu.cc):
        said = device.name or f"a GPU of compute capability {device.cc}"
        text = f"device {device.index} is {said} in the profile; taken for {name} as asked"
        issues.append(Issue(Level.INFO, text, device.location or Location("-")))
        return Device(device.index, name, gpu.cc, location=device.location), issues
    return replace(device, name=name, cc=device.cc if device.cc is not None else gpu.cc), issues


def fill_cc(data: Stack, devices: Sequence[Device]) -> None:
    """Compute capability of rows whose table did not say: their device's, or the only one there is."""
    cc, index = data.columns["cc"], data.columns["device"]
    known = {device.index: device.cc for device in devices if device.cc is not None}
    for device, value in known.items():
        cc[np.isnan(cc) & (index == device)] = value
    if len(set(known.values())) == 1 and len(known) == len(devices):
        cc[np.isnan(cc) & (index == -1)] = next(iter(known.values()))
