"""The time bases of a report."""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.finding import Totals
from nsight_insight.model.profile import Profile
from nsight_insight.model.text import clean
from nsight_insight.views.facts import FAMILIES, FactTable

_NCU: Final = "ncu durations (replayed, caches flushed): shares of the captured launches"


def totals_of(profile: Profile, trace: FactTable) -> Totals:
    """Sums over devices; None where no input says."""
    families = {name: _sum(trace, f"time_{name}") or 0.0 for name in FAMILIES}
    tools = {source.tool for source in profile.sources}
    return Totals(
        kernel_ns=_sum(trace, "kernel_time") or 0.0,
        launches=int(np.nansum(trace.launches)),
        kernels=_kernels(profile),
        copy_ns=_sum(trace, "copy_time"),
        gpu_busy_ns=_sum(trace, "busy"),
        window_ns=_sum(trace, "window"),
        steady_busy_ns=_sum(trace, "steady_busy"),
        steady_window_ns=_sum(trace, "steady_window"),
        steady_steps=_steps(trace),
        api_ns=_sum(trace, "api_time"),
        basis=_NCU if tools == {"ncu"} else "nsys" if "nsys" in tools else ", ".join(sorted(tools)),
        families={name: value for name, value in sorted(families.items(), key=lambda item: -item[1]) if value > 0},
    )


def idle_ns(totals: Totals) -> float:
    """Idle time of the steady windows; 0 where no input says."""
    if totals.steady_window_ns is None or totals.steady_busy_ns is None:
        return 0.0
    return max(totals.steady_window_ns - totals.steady_busy_ns, 0.0)


def _sum(trace: FactTable, name: str) -> float | None:
    values = trace.values.get(name)
    if values is None or not len(values) or np.isnan(values).all():
        return None
    return round(float(np.nansum(values)) * 1e9, 3)


def _steps(trace: FactTable) -> int | None:
    steps = trace.values.get("steady_steps")
    known = steps[~np.isnan(steps)] if steps is not None else np.array([])
    return int(known.max()) if len(known) else None


def _kernels(profile: Profile) -> int:
    frame = profile.activities
    mask = (frame["kind"] == Kind.KERNEL.value) & frame["primary"]
    return int(frame.loc[mask, "name"].nunique())


def device_names(profile: Profile) -> tuple[str, ...]:
    """GPU names with their compute capability, as far as known."""
    return tuple(
        clean(device.name or f"device {device.index}") + (f" (compute capability {device.cc})" if device.cc else "")
        for device in profile.devices
    )
