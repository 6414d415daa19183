"""Metrics of ncu launches attached to the kernels they explain, and combined per kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.derived import tail_loss
from nsight_insight.views.facts import Array, Floats, Ints
from nsight_insight.views.gpu import device_columns
from nsight_insight.views.groups import Groups
from nsight_insight.views.join import Kernels, join
from nsight_insight.views.metered import SHAPE, Combine, combine_rules, launch_columns
from nsight_insight.views.work import Columns

MIN_COVERAGE: Final = 0.5
"""Share of a kernel's time that must carry a metric before the kernel has it."""


@dataclass(frozen=True)
class Attached:
    """Pairs of a kernel and an ncu launch, arrays of equal length.

    Attributes:
        rows: activity row of the launch.
        groups: pairs by kernel.
        columns: metrics and shape of each pair's launch.
        weights: seconds of the time base each pair stands for, ncu durations where that is nothing.
        launches: launches of the time base each pair stands for.
        level: how the pair was matched.
    """

    rows: Ints
    groups: Groups
    columns: Mapping[str, Array]
    weights: Floats
    launches: Floats
    level: Array

    def combine_all(self, time: Floats) -> dict[str, Floats]:
        """Every metric and shape per kernel; ``time`` is each kernel's own in seconds."""
        rules = combine_rules()
        found = {
            name: self.combine(rules[name], column, time) for name, column in self.columns.items() if name in rules
        }
        for name in SHAPE:
            found[name] = self._covered(self.groups.same(self.columns[name], self.weights), self.columns[name], time)
        return found

    def combine(self, rule: Combine, values: Floats, time: Floats) -> Floats:
        """One value per kernel; NaN where less than half of the kernel's time has it.

        Sums are those of the launches each pair stands for, scaled from the time that carries the metric to
        the kernel's, so that a rate (bytes over duration) stays what was measured.
        """
        if rule == "sum":
            held = self.groups.sum(np.where(np.isnan(values), np.nan, self.weights))
            with np.errstate(all="ignore"):
                scale = np.where((held > 0) & (time > held), time / held, 1.0)
            found = self.groups.sum(values * self.launches) * scale
        elif rule == "mean":
            found = self.groups.mean(values, self.weights)
        elif rule == "first":
            lead = self._lead(values)
            found = np.where(lead >= 0, values[lead], np.nan) if len(values) else np.full(len(time), np.nan)
        else:
            found = self.groups.min(values) if rule == "min" else self.groups.max(values)
        return self._covered(found, values, time)

    def _covered(self, found: Floats, values: Floats, time: Floats) -> Floats:
        held = np.bincount(self.groups.codes, weights=self.weights, minlength=self.groups.size)
        total = np.where(held > 0, np.fmax(time, held), 0.0)
        return np.where(self.groups.coverage(values, self.weights, total) >= MIN_COVERAGE, found, np.nan)

    def nonlinear(self, acts: Activities, time: Floats) -> dict[str, Floats]:
        """Facts that must be derived per launch first: the tail of a mean number of waves means nothing."""
        columns = Columns(self.columns, len(self.rows))
        sms = device_columns(acts, acts.device[self.rows]).values["sm_count"]
        parts = {"tail_loss": tail_loss(columns), "grid_fill": np.minimum(columns("grid") / sms, 1.0)}
        return {name: self.combine("mean", values, time) for name, values in parts.items()}

    def lead_rows(self, name: str) -> Ints:
        """Activity row per kernel that evidence for a column points at: the heaviest launch that has it; -1 none."""
        lead = self._lead(self.columns[name])
        return np.where(lead >= 0, self.rows[lead], -1) if len(self.rows) else lead

    def _lead(self, values: Array) -> Ints:
        return self.groups.lead(np.where(np.isnan(values), np.nan, self.weights))

    def levels(self) -> Array:
        """How each kernel was matched; None where it was not."""
        found = np.full(self.groups.size, None, dtype=object)
        found[self.groups.codes[::-1]] = self.level[::-1]
        return found


def attach(acts: Activities, kernels: Kernels) -> Attached | None:
    """Match ncu launches to kernels; None without any."""
    if not len(acts.metered):
        return None
    pairs = join(acts, kernels)
    rows = acts.metered[pairs.launch]
    groups = Groups(pairs.kernel, kernels.groups.size)
    columns = {name: column[pairs.launch] for name, column in launch_columns(acts, acts.metered).items()}
    duration = acts.time(rows)
    untimed = np.bincount(pairs.kernel, weights=pairs.time, minlength=groups.size)[pairs.kernel] == 0
    weights = np.where(untimed, duration, pairs.time)
    return Attached(rows, groups, columns, weights, pairs.launches.astype(float), pairs.level)
