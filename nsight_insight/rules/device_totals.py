"""Each device's time line and which device is the slowest, as far as the input says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.text import clean
from nsight_insight.model.totals import DeviceTotals
from nsight_insight.views.activity import codes_of
from nsight_insight.views.facts import TRACE, FactTable
from nsight_insight.views.steps import find_steps

if TYPE_CHECKING:
    from nsight_insight.views.build import Views

NS: Final = 1e9
NOISE: Final = 0.05
"""Devices within this part of each other, or of the window, do not differ."""


def device_totals(views: Views) -> tuple[DeviceTotals, ...]:
    """One entry per device that ran kernels, by number; at most one of them is the slowest."""
    trace = views[TRACE]
    devices = [_device(views, trace, place) for place in range(len(trace))]
    clocks = views.activities.profile.clocks
    together = len({clocks.get(device.index, -1) for device in devices}) == 1
    slowest = _slowest(devices) if together else None
    return tuple(replace(device, slowest=place == slowest) for place, device in enumerate(devices))


def _device(views: Views, trace: FactTable, place: int) -> DeviceTotals:
    index = int(trace.devices[place])
    gpu = trace.values["gpu"][place]
    steady = _fact(trace, place, "steady_window") is not None
    prefix = "steady_" if steady else ""
    steps = _fact(trace, place, "steady_steps")
    kernels = _time(trace, place, f"{prefix}kernel_time")
    return DeviceTotals(
        index=index,
        name="" if gpu is None else clean(str(gpu)),
        kernel_ns=kernels or 0.0,
        launches=int(np.nan_to_num(trace.launches[place])),
        steady=steady,
        steps=None if steps is None else int(steps),
        basis=_basis(views, trace, place) if steady else "",
        window_ns=_time(trace, place, f"{prefix}window"),
        busy_ns=_time(trace, place, f"{prefix}busy"),
        comm_ns=_time(trace, place, f"{prefix}comm_time"),
        comm_exposed_ns=_time(trace, place, f"{prefix}comm_exposed_time"),
        host_bound_share=_fact(trace, place, "host_bound_share"),
        streams=_different(views, trace, place, "process", "context", "stream"),
        processes=_different(views, trace, place, "process"),
        clock=views.activities.profile.clocks.get(index, 0),
    )


def _basis(views: Views, trace: FactTable, place: int) -> str:
    steps = find_steps(views.activities, trace.rows[place])
    return "" if steps is None else steps.basis


def _different(views: Views, trace: FactTable, place: int, *columns: str) -> int | None:
    """Different values of the last column, told apart by the others; None where a kernel does not say."""
    rows = trace.rows[place]
    values = [views.activities.column(name)[rows] for name in columns]
    return None if (values[-1] < 0).any() else int(codes_of(*values)[0].max(initial=-1)) + 1


def _fact(trace: FactTable, place: int, name: str) -> float | None:
    values = trace.values.get(name)
    return None if values is None or np.isnan(values[place]) else float(values[place])


def _time(trace: FactTable, place: int, name: str) -> float | None:
    seconds = _fact(trace, place, name)
    return None if seconds is None else round(seconds * NS, 3)


def _slowest(devices: Sequence[DeviceTotals]) -> int | None:
    """The device that the others wait for, None where they do not differ or cannot be compared.

    A collective ends on all devices at once: who comes last spends the least time in it. Without collectives it is the
    device with most work of its own.
    """
    windows = [device.window_ns for device in devices if device.window_ns]
    if len(devices) < 2 or len(windows) < len(devices) or not _alike(devices):
        return None
    waits = [device.comm_exposed_ns or 0.0 for device in devices]
    if all(device.comm_ns for device in devices):
        least, other = sorted(range(len(devices)), key=waits.__getitem__)[:2]
        return least if waits[other] - waits[least] > NOISE * max(windows) else None
    own = [device.own_ns or 0.0 for device in devices]
    most, other = sorted(range(len(devices)), key=own.__getitem__, reverse=True)[:2]
    return most if own[most] - own[other] > NOISE * own[most] else None


def _alike(devices: Sequence[DeviceTotals]) -> bool:
    """Whether the devices did the same kind of work: as many launches, in windows of one kind."""
    launches = [device.launches for device in devices]
    same = len({(device.steady, device.steps, device.basis) for device in devices}) == 1
    return same and min(launches) >= (1.0 - NOISE) * max(launches)
