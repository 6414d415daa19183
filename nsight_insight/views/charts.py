"""Everything that can be drawn of a profile, computed from the facts that the rules use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.charts import IDLE_CAUSES, Breakdown, Charts, KernelRow, StallBar
from nsight_insight.views.build import Views
from nsight_insight.views.charts_timeline import timelines
from nsight_insight.views.facts import FAMILIES, KERNEL, STALLS, TRACE, FactTable
from nsight_insight.views.roofline import rooflines
from nsight_insight.views.work import Columns

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile

STALL_WORDS: Final[Mapping[str, str]] = {
    "imc_miss": "IMC Miss",
    "gmma": "GMMA",
    "lg_throttle": "LG Throttle",
    "mio_throttle": "MIO Throttle",
    **{
        name: name.replace("_", " ").title()
        for name in STALLS
        if name not in ("imc_miss", "gmma", "lg_throttle", "mio_throttle")
    },
}
"""Stall reasons as Nsight Compute's Warp State Statistics names them."""
NO_STALLS: Final = "no kernel has warp states; ncu --section WarpStateStats (part of --set full) collects them"


def charts(profile: Profile, views: Views) -> Charts:
    """Rooflines, stalls, breakdowns, timelines and the kernel table of a profile.

    Args:
        profile: what was read.
        views: its facts, as ``build_all`` returns them.
    """
    kernels, acts = views[KERNEL], views.activities
    stalls = _stalls(kernels)
    return Charts(
        files=tuple(dict.fromkeys(source.path for source in profile.sources)),
        rooflines=rooflines(acts, kernels),
        stalls=stalls,
        stalls_note="" if stalls else NO_STALLS,
        breakdowns=_breakdowns(views[TRACE]),
        timelines=timelines(acts),
        kernels=_kernels(kernels),
    )


def _by_time(kernels: FactTable) -> list[int]:
    return [int(index) for index in np.argsort(-kernels.time, kind="stable")]


def _stalls(kernels: FactTable) -> tuple[StallBar, ...]:
    known = kernels.values.get("stall_top")
    if known is None:
        return ()
    column = Columns(kernels.values, len(kernels))
    shares = {STALL_WORDS[name]: column(f"stall_share_{name}") for name in STALLS}
    coverage = column("stall_coverage")
    return tuple(
        StallBar(
            kernel=str(kernels.values["name"][index]),
            device=int(kernels.devices[index]),
            time_ns=float(kernels.time[index]) * 1e9,
            share=float(np.nan_to_num(kernels.values["time_share"][index])),
            shares={name: float(part[index]) for name, part in shares.items() if part[index] > 0},
            coverage=float(coverage[index]),
        )
        for index in _by_time(kernels)
        if known[index] is not None
    )


def _breakdowns(trace: FactTable) -> tuple[Breakdown, ...]:
    column = Columns(trace.values, len(trace))
    return tuple(_breakdown(column, int(device), place) for place, device in enumerate(trace.devices))


def _breakdown(column: Columns, device: int, place: int) -> Breakdown:
    def time(name: str) -> float | None:
        value = float(column(name)[place])
        return None if np.isnan(value) else value * 1e9

    steady = time("steady_window") is not None
    prefix = "steady_" if steady else ""
    families = {family: time(f"time_{family}") or 0.0 for family in FAMILIES}
    idle = {cause: time(f"idle_{cause}_time") or 0.0 for cause in IDLE_CAUSES}
    gpu = column.text("gpu")[place]
    return Breakdown(
        device=device,
        gpu=str(gpu or ""),
        families=_ranked(families),
        copies_ns=time("copy_time"),
        idle=_ranked(idle),
        busy_ns=time(f"{prefix}busy"),
        window_ns=time(f"{prefix}window"),
        steady=steady,
    )


def _ranked(times: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(((name, ns) for name, ns in times.items() if ns > 0), key=lambda item: (-item[1], item[0])))


def _kernels(kernels: FactTable) -> tuple[KernelRow, ...]:
    column = Columns(kernels.values, len(kernels))
    names = ("mean_duration", "sm_throughput", "memory_throughput", "tensor_active", "achieved_occupancy")
    numbers = [column(name) for name in names]
    return tuple(_row(kernels, index, [_known(values[index]) for values in numbers]) for index in _by_time(kernels))


def _row(kernels: FactTable, index: int, numbers: list[float | None]) -> KernelRow:
    mean, sm, memory, tensor, occupancy = numbers
    words = {name: kernels.values[name][index] or "" for name in ("name", "family", "dtype_in", "tensor_core")}
    return KernelRow(
        kernel=str(words["name"]),
        device=int(kernels.devices[index]),
        family=str(words["family"]),
        dtype=str(words["dtype_in"]),
        tensor_core=str(words["tensor_core"]),
        launches=int(kernels.launches[index]),
        time_ns=float(kernels.time[index]) * 1e9,
        share=float(np.nan_to_num(kernels.values["time_share"][index])),
        mean_ns=None if mean is None else mean * 1e9,
        sm_throughput=sm,
        memory_throughput=memory,
        tensor_active=tensor,
        occupancy=occupancy,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
