"""One subject per ncu launch with its metrics; without ncu, one per kernel row of the time base."""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.derived import derive
from nsight_insight.views.facts import LAUNCH, Array, FactTable, Floats, Ints, empty_table
from nsight_insight.views.gpu import DeviceColumns, device_columns
from nsight_insight.views.identity import extremes, identity, row_keys, share_of_device
from nsight_insight.views.join import join, kernels_of
from nsight_insight.views.metered import WORK, launch_columns, measured_bandwidth, shape_columns
from nsight_insight.views.precision import own_type
from nsight_insight.views.work import Columns

UNMATCHED: Final = "{count} of {total} ncu launches match no kernel of the nsys capture and stand for none of its time"


def build_launch(acts: Activities) -> FactTable:
    """Facts of each launch."""
    rows = acts.metered if len(acts.metered) else acts.base
    if not len(rows):
        return empty_table(LAUNCH)
    values = {**identity(acts, rows), **_times(acts, rows)}
    gpu = _metrics(acts, rows, values) if len(acts.metered) else _shapes(acts, rows, values)
    values.update(gpu.values)
    table = FactTable(
        LAUNCH, values, row_keys(acts, rows), list(rows.reshape(-1, 1)), rows,
        acts.time(rows), acts.device[rows], acts.launches(rows),
        assumptions=dict(gpu.assumptions),
    )  # fmt: skip
    if len(acts.metered):
        _apply_join(acts, table)
    values["time_share"] = share_of_device(table.time, table.devices, acts)
    return table


def _times(acts: Activities, rows: Ints) -> dict[str, Array]:
    duration, count = acts.seconds(rows), acts.count(rows)
    low, high = extremes(acts, rows)
    return {
        "duration": duration,
        "mean_duration": duration / np.maximum(count, 1.0),
        "min_duration": low,
        "max_duration": high,
        "launches": count,
    }


def _shapes(acts: Activities, rows: Ints, values: dict[str, Array]) -> DeviceColumns:
    values.update(shape_columns(acts, rows))
    return device_columns(acts, acts.device[rows], own=_own(values, Columns({}, len(rows))))


def _metrics(acts: Activities, rows: Ints, values: dict[str, Array]) -> DeviceColumns:
    found = launch_columns(acts, rows)
    columns = Columns(found, len(rows))
    gpu = device_columns(
        acts, acts.device[rows], clock=columns("sm_clock"), bandwidth=measured_bandwidth(columns),
        own=_own(values, columns),
    )  # fmt: skip
    found.update(gpu.values)
    values.update({name: column for name, column in found.items() if name != "duration" and name not in WORK})
    values.update(derive(columns))
    return gpu


def _own(values: dict[str, Array], columns: Columns) -> Array:
    return own_type(values["dtype_in"], values["tensor_core"], columns)


def _apply_join(acts: Activities, table: FactTable) -> None:
    """Give each ncu launch its part of the nsys time."""
    pairs, size = join(acts, kernels_of(acts)), len(table)
    time: Floats = pairs.per_launch(pairs.time, size)
    table.time = time
    table.launches = pairs.per_launch(pairs.launches.astype(float), size).astype(np.int64)
    table.values["join"] = pairs.levels(size)
    unmatched = int((table.values["join"] == None).sum())  # noqa: E711  elementwise
    if unmatched:
        table.assumptions["time"] = UNMATCHED.format(count=unmatched, total=size)
