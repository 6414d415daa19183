"""What a file holds beside GPU work: MPI calls, managed memory, sampled GPU metrics."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.inspection import InspectedCalls, InspectedManaged, InspectedSamples
from nsight_insight.views.facts import TRACE

if TYPE_CHECKING:
    from nsight_insight.model.profile import GpuSamples, Profile
    from nsight_insight.views.build import Views


def mpi_calls(views: Views) -> tuple[InspectedCalls, ...]:
    """Calls and time per MPI function; a call that waits for several requests counts once."""
    acts = views.activities
    rows = acts.rows(acts.kind(Kind.MPI) & acts.column("primary"))
    calls: dict[str, float] = defaultdict(float)
    time: dict[str, float] = defaultdict(float)
    for name, count, spent in zip(acts.column("name")[rows], acts.launches(rows), acts.time(rows), strict=True):
        calls[str(name)] += float(count)
        time[str(name)] += float(spent) * 1e9
    return tuple(InspectedCalls(name, int(calls[name]), time[name]) for name in sorted(time, key=lambda n: -time[n]))


def managed_memory(views: Views) -> InspectedManaged | None:
    """What moved and what it cost, all devices together; None without managed memory."""
    moved = _sum(views, "migrated_bytes")
    if not moved:
        return None
    kernel = _sum(views, "fault_kernel_time")
    kernel = _sum(views, "migration_kernel_time") if kernel is None else kernel
    gpu, cpu = _sum(views, "gpu_faults"), _sum(views, "cpu_faults")
    return InspectedManaged(
        moved, None if gpu is None else int(gpu), None if cpu is None else int(cpu),
        None if kernel is None else kernel * 1e9,
    )  # fmt: skip


def sampled(profile: Profile, views: Views) -> tuple[InspectedSamples, ...]:
    """Sampled GPU metrics, device by device."""
    return tuple(_sampled(samples, views) for samples in profile.samples)


def _sampled(samples: GpuSamples, views: Views) -> InspectedSamples:
    rate = samples.frequency
    return InspectedSamples(
        samples.device, len(samples.times), None if np.isnan(rate) else rate,
        _means(samples, views, ""), _means(samples, views, "steady_"),
    )  # fmt: skip


def _means(samples: GpuSamples, views: Views, prefix: str) -> tuple[tuple[str, float], ...]:
    table = views[TRACE]
    place = np.flatnonzero(table.devices == samples.device)
    if len(place) != 1:
        return ()
    values = {name: table.values.get(f"{prefix}sampled_{name}") for name in samples.values}
    found = {name: float(known[place[0]]) for name, known in values.items() if known is not None}
    return tuple((name, value) for name, value in found.items() if not np.isnan(value))


def _sum(views: Views, fact: str) -> float | None:
    values = views[TRACE].values.get(fact)
    if values is None or not len(values) or np.isnan(values).all():
        return None
    return float(np.nansum(values))
