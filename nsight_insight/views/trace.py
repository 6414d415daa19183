"""One subject per device: sums over its kernels, copies and API calls, and its timeline."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import NS, Activities
from nsight_insight.views.api_calls import api_facts
from nsight_insight.views.blocking import blocking_facts
from nsight_insight.views.collectives import slowdown_facts, wait_facts
from nsight_insight.views.copies import copy_facts, first_computation
from nsight_insight.views.facts import TRACE, Array, Bools, FactTable, Ints, empty_table
from nsight_insight.views.gpu import device_columns
from nsight_insight.views.groups import single
from nsight_insight.views.idle import idle_facts
from nsight_insight.views.kernel_totals import kernel_facts
from nsight_insight.views.managed import managed_facts
from nsight_insight.views.norms import norm_facts
from nsight_insight.views.overlap import graph_facts, overlap_facts, steady_overlap_facts, step_facts
from nsight_insight.views.runs import attention_facts
from nsight_insight.views.samples import sampled_facts
from nsight_insight.views.steps import find_steps
from nsight_insight.views.timeline import Window, window
from nsight_insight.views.totals import Totals


@dataclass
class _Device:
    """One device's rows and the facts found so far."""

    index: int
    kernels: Ints
    alone: bool
    totals: Totals = field(default_factory=Totals)
    steady: Window | None = None


def build_trace(acts: Activities) -> FactTable:
    """Facts of every device that ran kernels; empty without kernels."""
    device = acts.device[acts.base]
    indices = np.unique(device)
    if not len(indices):
        return empty_table(TRACE)
    subjects = [_Device(int(d), acts.base[device == d], len(indices) == 1) for d in indices]
    for subject in subjects:
        _measure(acts, subject)
    if len({acts.profile.clocks.get(int(index), -1) for index in indices}) == 1:
        wait_facts(acts, *zip(*((one.kernels, one.totals, one.steady) for one in subjects), strict=True))
    return _table(acts, subjects)


def _measure(acts: Activities, subject: _Device) -> None:
    kernel_facts(acts, subject.kernels, subject.totals)
    subject.steady = steady = _timeline(acts, subject)
    _queue(acts, subject)
    copies = _rows(acts, subject, Kind.MEMCPY)
    if copies is not None:
        copy_facts(acts, copies, subject.totals, _first_kernel(acts, subject))
        managed_facts(acts, subject.kernels, copies, _of_device(acts, subject), subject.totals)
    calls = _rows(acts, subject, Kind.API)
    api_facts(acts, _own_calls(acts, subject), subject.totals, steady, _unplaced_calls(acts, subject))
    graph_facts(acts, calls, subject.kernels, subject.totals)


def _rows(acts: Activities, subject: _Device, *kinds: Kind) -> Ints | None:
    """The device's primary rows of some kinds; None where rows do not say to which device they belong."""
    rows = acts.rows(acts.kind(*kinds) & acts.column("primary"))
    device = acts.device[rows]
    if (device < 0).any() and not subject.alone:
        return None
    own: Ints = rows[(device == subject.index) | (device < 0)]
    return own


def _own_calls(acts: Activities, subject: _Device) -> Ints:
    return acts.rows(acts.kind(Kind.API) & acts.column("primary") & _of_device(acts, subject))


def _unplaced_calls(acts: Activities, subject: _Device) -> Ints:
    """Calls that may be of this device or another."""
    unknown = acts.kind(Kind.API) & acts.column("primary") & (acts.device < 0)
    return acts.rows(unknown if not subject.alone else np.zeros(acts.size, dtype=bool))


def _of_device(acts: Activities, subject: _Device) -> Bools:
    here: Bools = (acts.device == subject.index) | (subject.alone & (acts.device < 0))
    return here


def _first_kernel(acts: Activities, subject: _Device) -> float:
    """Start of the device's first computation in any nsys report of the profile; NaN when none has times."""
    return first_computation(acts, acts.rows(acts.runs & (acts.tool != "ncu") & _of_device(acts, subject)))


def _queue(acts: Activities, subject: _Device) -> None:
    """Mean queueing time over all kernel rows that carry it, primary or not, weighted by launches."""
    rows = acts.rows(acts.kind(Kind.KERNEL) & ~np.isnan(acts.column("queue_duration")) & _of_device(acts, subject))
    if len(rows):
        queued, count = acts.seconds(rows, "queue_duration"), np.nan_to_num(acts.count(rows))
        lead = rows[single(queued * count)]
        subject.totals.set("queue_time", float(np.average(queued, weights=np.maximum(count, 1))), int(lead))


def _timeline(acts: Activities, subject: _Device) -> Window | None:
    """Add window, busy and steady-state facts; the steady window, or None when there is none."""
    totals, rows = subject.totals, subject.kernels
    steps = find_steps(acts, rows)
    if steps is not None:
        totals.set("steps", float(steps.count))
    start = acts.column("start")[rows]
    active = _rows(acts, subject, Kind.KERNEL, Kind.GRAPH, Kind.MEMCPY, Kind.MEMSET)
    if active is None or np.isnan(start).any() or np.isnan(acts.column("start")[active]).any():
        return None
    begin = acts.column("start")[active]
    end = begin + np.nan_to_num(acts.column("duration")[active])
    whole = window(begin, end, float(start.min()), float(end.max()))
    _window_facts(totals, "", whole)
    sampled_facts(acts.profile, subject.index, whole, "", totals)
    overlap_facts(acts, rows, active, whole, totals)
    attention_facts(acts, rows, totals)
    norm_facts(acts, rows, totals)
    slowdown_facts(acts, rows, totals)
    blocking_facts(acts, rows, totals)
    steady = steps.steady() if steps is not None else None
    if steps is None or steps.edges is None or steady is None:
        return None
    found = window(begin, end, float(steps.edges[steady[0]]), float(steps.edges[steady[1]]))
    _window_facts(totals, "steady_", found)
    sampled_facts(acts.profile, subject.index, found, "steady_", totals)
    inside = (start >= found.start) & (start < found.end)
    totals.set("steady_steps", float(steady[1] - steady[0]))
    totals.add("steady_launches", rows, acts.count(rows), inside)
    totals.add("steady_kernel_time", rows, acts.seconds(rows), inside)
    step_facts(steps, totals)
    steady_overlap_facts(acts, rows, found, totals)
    idle_facts(acts, active, found, totals)
    return found


def _window_facts(totals: Totals, prefix: str, found: Window) -> None:
    totals.set(f"{prefix}window", found.length * NS)
    totals.set(f"{prefix}busy", found.busy * NS)
    totals.set(f"{prefix}idle", found.idle * NS)


def _table(acts: Activities, subjects: list[_Device]) -> FactTable:
    devices = np.array([subject.index for subject in subjects], dtype=np.int64)
    names = sorted({name for subject in subjects for name in subject.totals.values})
    values: dict[str, Array] = {
        name: np.array([subject.totals.values.get(name, np.nan) for subject in subjects]) for name in names
    }
    columns = device_columns(acts, devices)
    values.update(columns.values)
    evidence = {
        name: np.array([subject.totals.evidence.get(name, -1) for subject in subjects], dtype=np.int64)
        for name in names
    }
    keys = [f"device {index}" for index in devices] if len(devices) > 1 else ["device"]
    longest = [single(acts.column("duration")[subject.kernels]) for subject in subjects]
    return FactTable(
        TRACE, values, keys, [subject.kernels for subject in subjects],
        np.array([s.kernels[place] for s, place in zip(subjects, longest, strict=True)], dtype=np.int64),
        np.nan_to_num(values["kernel_time"]), devices, values["launches"],
        evidence_rows={name: rows for name, rows in evidence.items() if (rows >= 0).any()},
        combined={name: "sum" for name, rows in evidence.items() if (rows >= 0).any()},
        assumptions=dict(columns.assumptions),
    )  # fmt: skip
