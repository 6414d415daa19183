"""Small profiles from row dictionaries, following the activity frame's contract.

Example::

    make_profile([{"name": "sgemm", "count": 4, "duration": 4000.0}])
    make_profile(nsys=[...], ncu=[...], devices=[Device(0, "NVIDIA H200")])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nsight_insight.catalog.kernels import classify
from nsight_insight.catalog.names import base_name
from nsight_insight.model.columns import ACTIVITY_COLUMNS, FILL
from nsight_insight.model.profile import ColumnOrigin, Device, Profile, Source

Row = Mapping[str, Any]
_REPORTS = {"ncu": "raw", "nsys": "cuda_gpu_kern_sum", "nvprof": "gpu-summary"}


def make_profile(
    nsys: Sequence[Row] = (),
    *,
    ncu: Sequence[Row] = (),
    devices: Sequence[Device] = (),
    report: str = "",
) -> Profile:
    """A profile with one source per tool; what a row leaves out gets the contract's fill.

    Args:
        nsys: rows of an nsys report, kernels unless ``kind`` says otherwise.
        ncu: launches with canonical metrics as further keys; not primary where ``nsys`` has kernels.
        devices: what the profile says about its GPUs.
        report: name of the nsys report, ``cuda_gpu_kern_sum`` unless given.
    """
    explained = any(row.get("kind", "kernel") == "kernel" for row in nsys)
    tables = [("nsys", report or _REPORTS["nsys"], list(nsys), {})] if nsys else []
    if ncu:
        tables.append(("ncu", _REPORTS["ncu"], list(ncu), {"primary": not explained}))
    sources: list[Source] = []
    rows: list[dict[str, Any]] = []
    for number, (tool, name, entries, defaults) in enumerate(tables):
        sources.append(_source(tool, name, entries, len(rows)))
        rows += [_row(number, line, {**defaults, **entry}) for line, entry in enumerate(entries, start=2)]
    return Profile(tuple(sources), frame(rows), tuple(devices))


def _source(tool: str, report: str, rows: Sequence[Row], first: int) -> Source:
    names = sorted({name for row in rows for name in row})
    columns = {name: (ColumnOrigin(name, place),) for place, name in enumerate(names, start=1)}
    return Source(f"{tool}.csv", f"{tool}_csv", tool, report, rows=len(rows), first_row=first, columns=columns)


def _row(source: int, line: int, entry: Row) -> dict[str, Any]:
    row: dict[str, Any] = {"source": source, "line": line, "kind": "kernel", "count": 1, **entry}
    if row["kind"] == "kernel":
        found, name = classify(row["name"]), row["name"]
        derived = {key: getattr(found, key) for key in ("family", "dtype_in", "dtype_out", "tensor_core", "library")}
        row = {"base": base_name(name), **derived, **row}
    return row


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Rows as an activity frame."""
    metrics = sorted({name for row in rows for name in row} - ACTIVITY_COLUMNS.keys())
    columns = {}
    for name in (*ACTIVITY_COLUMNS, *metrics):
        dtype = ACTIVITY_COLUMNS[name].dtype if name in ACTIVITY_COLUMNS else "float64"
        columns[name] = np.array([row.get(name, FILL[dtype]) for row in rows], dtype=dtype)
    return pd.DataFrame(columns)
