"""GPU metrics that nsys sampled, averaged over a device's windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.gpu_samples import load_gpu_samples

if TYPE_CHECKING:
    from nsight_insight.model.profile import GpuSamples, Profile
    from nsight_insight.views.timeline import Window
    from nsight_insight.views.totals import Totals

MIN_SAMPLES: Final = 10
"""Fewer samples say nothing about a window: one at either end covers a part of it only."""


def sampled_facts(profile: Profile, device: int, found: Window, prefix: str, totals: Totals) -> None:
    """Add the mean of every sampled metric over a window as ``<prefix>sampled_<metric>``; nothing without samples."""
    samples = samples_of(profile, device)
    if samples is None:
        return
    for name, mean in means(samples, found.start, found.end).items():
        totals.set(f"{prefix}sampled_{name}", mean)


def samples_of(profile: Profile, device: int) -> GpuSamples | None:
    """The samples of a device; where several captures hold some, nothing says which of them is meant."""
    own = [samples for samples in profile.samples if samples.device == device]
    return own[0] if len(own) == 1 else None


def means(samples: GpuSamples, start: float, end: float) -> dict[str, float]:
    """Mean of every sampled share and clock from ``start`` to ``end`` (ns); empty with too few samples there."""
    inside = (samples.times > start) & (samples.times <= end)
    if inside.sum() < MIN_SAMPLES:
        return {}
    known = load_gpu_samples()
    chosen = {name: values[inside] for name, values in samples.values.items() if name in known}
    return {name: float(np.nanmean(values)) for name, values in chosen.items() if not np.isnan(values).all()}
