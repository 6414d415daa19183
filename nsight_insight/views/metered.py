"""Columns of ncu launches: metrics as read, shape, and what adds up over launches."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

import numpy as np

from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Array, Floats, Ints
from nsight_insight.views.work import Columns, work_columns

Combine = Literal["sum", "max", "min", "mean", "first"]
WORK: Final = ("work_tensor", "work_ops", "work_bytes")
SHAPE: Final = ("grid", "block", "registers", "shared_static", "shared_dynamic")
_COMBINED: Final[dict[Combine, str]] = {
    "sum": "sum of its ncu launches, scaled to the kernel's launches and time",
    "mean": "duration-weighted mean of its ncu launches",
    "max": "largest of its ncu launches",
    "min": "smallest of its ncu launches",
    "first": "its longest ncu launch",
}


@lru_cache(maxsize=1)
def combine_rules() -> dict[str, Combine]:
    """How each column of ``launch_columns`` is combined over launches."""
    rules: dict[str, Combine] = {metric.name: metric.combine for metric in load_metrics().values()}
    return {**rules, **dict.fromkeys(WORK, "sum"), **dict.fromkeys(("tail_loss", "grid_fill"), "mean")}


def combined_text(rule: Combine) -> str:
    """How reports describe a combination."""
    return _COMBINED[rule]


def shape_columns(acts: Activities, rows: Ints) -> dict[str, Floats]:
    """Grid, block and resources per launch of each row."""
    return {
        "grid": acts.grid[rows],
        "block": acts.block[rows],
        **{name: acts.column(name)[rows] for name in SHAPE[2:]},
    }


def launch_columns(acts: Activities, rows: Ints) -> dict[str, Array]:
    """Metrics of each row as read, the duration of one launch in seconds, shape, and the ``work_*`` columns.

    A row of a summary stands for several launches, its metrics are those of an average one.
    """
    known = load_metrics()
    columns: dict[str, Array] = {
        name: acts.column(name)[rows] for name in acts.metric_names() if name in known
    }  # fmt: skip
    columns.update(shape_columns(acts, rows))
    columns["duration"] = acts.seconds(rows) / np.maximum(acts.count(rows), 1.0)
    columns["tensor_core"] = acts.tensor_core(rows)
    columns["name"] = acts.column("name")[rows]
    columns.update(work_columns(Columns(columns, len(rows))))
    return columns


def measured_bandwidth(columns: Columns) -> Floats:
    """Theoretical DRAM bandwidth at the measured memory clock, byte/s; NaN unknown."""
    return columns("dram_peak_bytes_per_cycle") * columns("dram_clock")
