"""GPU metrics that Nsight Systems samples, and what nsys calls them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from nsight_insight.catalog.yamlio import load_data

_LABEL: Final = re.compile(r"(.*?)\s*(?:\[([^\[\]]*)\])?\s*")
_UNITS: Final = {"share": ("Throughput %", "%", ""), "clock": ("MHz", "Hz", "")}
"""What may stand in brackets; the same name with another unit is another metric. nsys prints MHz and stores Hz."""


@dataclass(frozen=True)
class SampledMetric:
    """One sampled metric; ``scale`` turns a stored value into a fraction or Hz."""

    name: str
    kind: str
    doc: str
    scale: float


@lru_cache(maxsize=1)
def load_gpu_samples() -> Mapping[str, SampledMetric]:
    """Name -> metric."""
    entries = load_data("gpu_samples.yaml")
    return {
        name: SampledMetric(name, entry["kind"], entry["doc"], 0.01 if entry["kind"] == "share" else 1.0)
        for name, entry in entries.items()
    }


def sampled_metric(label: str) -> SampledMetric | None:
    """``SMs Active [Throughput %]`` -> ``sm_active``; None for a metric or unit that is not used."""
    found = _LABEL.fullmatch(label)
    if found is None:
        return None
    metric = load_gpu_samples().get(_names().get(found[1].lower(), ""))
    return metric if metric is not None and (found[2] or "") in _UNITS[metric.kind] else None


@lru_cache(maxsize=1)
def _names() -> Mapping[str, str]:
    entries = load_data("gpu_samples.yaml")
    return {label.lower(): name for name, entry in entries.items() for label in entry["names"]}
