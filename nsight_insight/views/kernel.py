"""One subject per device and kernel name of the time base, with the metrics of its ncu launches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.attach import Attached, attach
from nsight_insight.views.derived import derive
from nsight_insight.views.facts import KERNEL, Array, FactTable, Floats, Ints, empty_table, facts_of
from nsight_insight.views.gpu import device_columns
from nsight_insight.views.groups import Groups
from nsight_insight.views.identity import extremes, identity, share_of_device
from nsight_insight.views.join import Kernels, kernels_of
from nsight_insight.views.metered import (
    SHAPE,
    WORK,
    combine_rules,
    combined_text,
    measured_bandwidth,
    shape_columns,
)
from nsight_insight.views.norms import norm_chains
from nsight_insight.views.optimizer import find_foreach, find_loop
from nsight_insight.views.precision import own_type
from nsight_insight.views.runs import fusible_seconds
from nsight_insight.views.work import Columns

DERIVED: Final = "from the combined metrics of its ncu launches"


def build_kernel(acts: Activities) -> FactTable:
    """Facts of each kernel."""
    if not len(acts.base):
        return empty_table(KERNEL)
    kernels = kernels_of(acts)
    rows, groups = acts.base, kernels.groups
    duration = acts.seconds(rows)
    lead = rows[groups.lead(duration)]
    devices = acts.device[lead]
    values = {**identity(acts, lead), **_times(acts, kernels), **_optimizer(acts, kernels)}
    total = groups.sum(duration)
    values["time_share"] = share_of_device(total, devices, acts)
    normalizing, saved = norm_chains(acts, rows)
    values["norm_fusible_time"] = groups.sum(saved)
    values["fusible_time"] = groups.sum(fusible_seconds(acts, rows, normalizing > 0))
    table = FactTable(
        KERNEL, values, _keys(acts, lead), groups.members(rows), lead, np.nan_to_num(total), devices,
        np.nan_to_num(groups.sum(acts.count(rows))).astype(np.int64),
    )  # fmt: skip
    _add_metrics(acts, table, attach(acts, kernels))
    return table


def _times(acts: Activities, kernels: Kernels) -> dict[str, Array]:
    rows, groups = acts.base, kernels.groups
    duration, count = acts.seconds(rows), acts.count(rows)
    low, high = extremes(acts, rows)
    total, launches = groups.sum(duration), groups.sum(count)
    shapes = shape_columns(acts, rows)
    return {
        "duration": total,
        "mean_duration": total / np.maximum(launches, 1.0),
        "min_duration": _if_complete(groups, low, groups.min(low)),
        "max_duration": _if_complete(groups, high, groups.max(high)),
        "launches": launches,
        **{name: groups.same(column, duration) for name, column in shapes.items()},
    }


def _if_complete(groups: Groups, values: Floats, found: Floats) -> Floats:
    """``found`` only where every row of the group has a value: an extreme of some is none of all."""
    return np.where(groups.count(np.isnan(values)) == 0, found, np.nan)


def _optimizer(acts: Activities, kernels: Kernels) -> dict[str, Floats]:
    """1 for the kernels of an optimizer on their device that loops over parameters, or over operations."""
    loop, foreach = np.zeros(kernels.groups.size), np.zeros(kernels.groups.size)
    for index in np.unique(acts.device[acts.base]):
        here = np.flatnonzero(acts.device[acts.base] == index)
        rows = acts.base[here]
        loop[kernels.groups.codes[here[find_loop(acts, rows).members]]] = 1.0
        foreach[kernels.groups.codes[here[find_foreach(acts, rows)]]] = 1.0
    return {"optimizer_loop": loop, "foreach_optimizer": foreach}


def _keys(acts: Activities, lead: Ints) -> list[str]:
    codes, names = acts.name_codes
    several = len(np.unique(acts.device[acts.base])) > 1
    return [(f"{acts.device[row]}:" if several else "") + names[codes[row]] for row in lead]


def _add_metrics(acts: Activities, table: FactTable, attached: Attached | None) -> None:
    """Add GPU facts, and what ncu measured where it measured anything."""
    values = table.values
    combined = attached.combine_all(values["duration"]) if attached else {}
    if attached:
        _fill_shapes(table, attached, combined)
    columns = Columns({**combined, **values}, len(table))
    gpu = device_columns(
        acts, table.devices, clock=columns("sm_clock"), bandwidth=measured_bandwidth(columns),
        own=own_type(values["dtype_in"], values["tensor_core"], columns),
    )  # fmt: skip
    values.update(gpu.values)
    table.assumptions.update(gpu.assumptions)
    if not attached:
        return
    derived = derive(Columns({**combined, **values}, len(table)))
    values.update({name: column for name, column in combined.items() if name not in WORK and name not in values})
    values.update(derived)
    values.update(attached.nonlinear(acts, values["duration"]))
    values["ncu_launches"], values["join"] = attached.groups.count().astype(float), attached.levels()
    _explain(table, attached, [name for name in combined if name not in WORK and name not in SHAPE], derived)


def _explain(table: FactTable, attached: Attached, metrics: Iterable[str], derived: Iterable[str]) -> None:
    """Say how each value was combined, and which launch shows it: the heaviest that has the metric."""
    rules, declared = combine_rules(), facts_of(KERNEL)
    for name in metrics:
        table.combined[name] = combined_text(rules[name])
        table.evidence_rows[name] = attached.lead_rows(name)
    for name in derived:
        need = next((need for need in declared[name].needs if need in attached.columns), "duration")
        table.combined[name] = combined_text(rules[name]) if name in rules else DERIVED
        table.evidence_rows[name] = attached.lead_rows(need)


def _fill_shapes(table: FactTable, attached: Attached, combined: dict[str, Floats]) -> None:
    """Grid and block from ncu where the time base does not write them."""
    for name in SHAPE:
        missing = np.isnan(table.values[name])
        if missing.any():
            table.values[name] = np.where(missing, combined[name], table.values[name])
            table.evidence_rows[name] = np.where(missing, attached.lead_rows(name), -1)
