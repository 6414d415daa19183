"""GPU metrics that nsys sampled at a fixed rate, one series per device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from nsight_insight.catalog.gpu_samples import SampledMetric, sampled_metric
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import GpuSamples
from nsight_insight.readers._sqlite_database import Database, number_of, plain

SAMPLES: Final = "GPU_METRICS"
_NAMES: Final = "TARGET_INFO_GPU_METRICS"
_DEVICES: Final = "TARGET_INFO_CUDA_DEVICE"
_FIELDS: Final = (
    plain("time", "timestamp"), plain("type", "typeId"), plain("metric", "metricId"), plain("value", "value"),
)  # fmt: skip
MAX_SAMPLES: Final = 20_000_000
"""Rows of the table, of which some are read: 22 metrics at 10 kHz for a minute and a half."""
_GPU: Final = 0xFF
"""The low byte of a type is the GPU (NVIDIA's recipe ``gpu_metric_util_map`` reads it so)."""


def read_samples(database: Database) -> list[GpuSamples]:
    """The sampled metrics that are used, by device; empty without any."""
    if not database.has(SAMPLES, "timestamp", "typeId", "metricId", "value"):
        return []
    rows = database.count(SAMPLES)
    if rows > MAX_SAMPLES:
        text = f"{number_of(rows, 'row')} of GPU metrics left out, more than {MAX_SAMPLES:,}"
        database.issues.append(Issue(Level.DATA_LOSS, text, Location(database.path, table=SAMPLES)))
        return []
    known = _known(database)
    wanted = sorted({metric for _, metric in known})
    if not wanted:
        return []
    where = f'"metricId" IN ({", ".join(map(str, wanted))})'
    return list(_series(database, known, where))


def _known(database: Database) -> dict[tuple[int, int], tuple[SampledMetric, str]]:
    """Type and number of each metric that is used -> the metric, and how the export calls it."""
    if not database.has(_NAMES, "typeId", "metricId", "metricName"):
        return {}
    sql = f"SELECT typeId, metricId, metricName FROM {_NAMES} ORDER BY rowid"  # noqa: S608
    found: dict[tuple[int, int], tuple[SampledMetric, str]] = {}
    for kind, number, label in database.fetch(sql, _NAMES):
        metric = sampled_metric(str(label))
        if metric is not None and isinstance(kind, int) and isinstance(number, int):
            found.setdefault((kind, number), (metric, str(label)))
    return found


def _series(
    database: Database, known: dict[tuple[int, int], tuple[SampledMetric, str]], where: str
) -> Iterator[GpuSamples]:
    rows = database.read(SAMPLES, _FIELDS, where)
    columns, numbers = rows.columns, _numbers(database)
    for kind in sorted({kind for kind, _ in known}):
        mine = columns["type"] == kind
        times = np.unique(columns["time"][mine])
        times = times[np.isfinite(times)]
        values: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
        names: dict[str, str] = {}
        for (_, number), (metric, label) in ((key, entry) for key, entry in known.items() if key[0] == kind):
            own = mine & (columns["metric"] == number) & np.isfinite(columns["time"])
            if metric.name in values or not own.any():
                continue
            values[metric.name] = np.full(len(times), np.nan)
            values[metric.name][np.searchsorted(times, columns["time"][own])] = columns["value"][own] * metric.scale
            names[metric.name] = label
        if values:
            place = Location(database.path, int(rows.ids[np.flatnonzero(mine)[0]]), table=SAMPLES)
            gpu = kind & _GPU
            yield GpuSamples(numbers.get(gpu, gpu), times, values, names, place)


def _numbers(database: Database) -> dict[int, int]:
    """GPU -> CUDA's number for it, where all processes agree; else devices go by the GPU's own number, too."""
    if not database.has(_DEVICES, "gpuId", "cudaId"):
        return {}
    pairs = set(database.fetch(f"SELECT gpuId, cudaId FROM {_DEVICES}", _DEVICES))  # noqa: S608
    alone = len({gpu for gpu, _ in pairs}) == len({number for _, number in pairs}) == len(pairs)
    return dict(pairs) if alone else {}
