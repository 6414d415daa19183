"""nvprof's metrics in the words of the metric catalogue, as far as both mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from nsight_insight.catalog.metrics import Metric, load_metrics
from nsight_insight.catalog.yamlio import load_data


@dataclass(frozen=True)
class NvprofMetric:
    """One metric of nvprof; ``scale`` turns its value (percentages as fractions) into the canonical one."""

    name: str
    metric: Metric
    scale: float


@lru_cache(maxsize=1)
def load_nvprof_metrics() -> Mapping[str, NvprofMetric]:
    """Name of nvprof -> canonical metric."""
    entries: Mapping[str, Mapping[str, object]] = load_data("nvprof_metrics.yaml")
    known = load_metrics()
    return {
        name: NvprofMetric(name, known[str(entry["metric"])], float(str(entry.get("scale", 1.0))))
        for name, entry in entries.items()
    }
