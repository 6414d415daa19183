"""Which canonical metrics a profile holds, under which names, and where not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.inspection.files import gap_text
from nsight_insight.model.inspection import HeldMetric
from nsight_insight.model.missing import Missing
from nsight_insight.model.text import clean

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile, Source


def held_metrics(profile: Profile) -> list[HeldMetric]:
    """Every canonical metric of every table, in the catalogue's order."""
    order = {name: place for place, name in enumerate(load_metrics())}
    found = [metric for source in profile.sources for metric in _held(profile, source)]
    return sorted(found, key=lambda metric: order[metric.name])


def _held(profile: Profile, source: Source) -> Iterator[HeldMetric]:
    rows = slice(source.first_row, source.first_row + source.rows)
    for name in source.columns:
        if name not in load_metrics() or name not in profile.activities.columns:
            continue
        known = ~np.isnan(profile.activities[name].to_numpy(dtype=np.float64)[rows])
        reasons = source.reasons.get(name)
        counts: dict[Missing, int] = {}
        if reasons is not None:
            counts = {Missing(code): int((reasons == code).sum()) for code in np.unique(reasons[~known]).tolist()}
        yield HeldMetric(
            name,
            clean(source.path),
            source.report,
            int(known.sum()),
            source.rows,
            tuple(_names(source, name, known)),
            gap_text(counts, source.rows),
        )


def _names(
    source: Source, metric: str, known: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Iterator[tuple[str, str, int]]:
    """Names as written, their unit, and the rows each one serves; preferred first."""
    origins = source.columns[metric]
    pick = source.pick.get(metric)
    for place, origin in enumerate(origins):
        served = int(known.sum()) if pick is None else int((known & (pick == place)).sum())
        if served or len(origins) == 1:
            yield clean(origin.field), clean(origin.unit), served
