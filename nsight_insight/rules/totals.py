"""The time bases of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import Profile
from nsight_insight.model.text import clean
from nsight_insight.model.totals import DeviceTotals, Totals
from nsight_insight.views.facts import FAMILIES, FactTable

_NCU: Final = "ncu durations (replayed, caches flushed): shares of the captured launches"


def totals_of(profile: Profile, trace: FactTable, devices: Sequence[DeviceTotals] = ()) -> Totals:
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
        steps_basis=", ".join(sorted({device.basis for device in devices if device.basis})),
        api_ns=_sum(trace, "api_time"),
        basis=_NCU if tools == {"ncu"} else "nsys" if "nsys" in tools else ", ".join(sorted(tools)),
        families={name: value for name, value in sorted(families.items(), key=lambda item: -item[1]) if value > 0},
    )


def copy_bound_seconds(trace: FactTable) -> float | None:
    """Kernels and the copies that no kernel hides, where those copies take longer than the kernels; else None.

    A share of the kernel time alone would promise much for kernels that are a small part of what the GPU does.
    """
    kernels, copies = _sum(trace, "kernel_time") or 0.0, _sum(trace, "exposed_copy_time") or 0.0
    return (kernels + copies) / 1e9 if copies > kernels else None


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
