"""The precision ledger: what conversions cost, between what they run, and what low precision brings for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.ledger import Conversion, Instructions, PrecisionLedger, RangeCost
from nsight_insight.views.activity import codes_of
from nsight_insight.views.balance import balance_of
from nsight_insight.views.conversions import Neighbours, Rows, converting_rows, flows, neighbours, range_names
from nsight_insight.views.facts import KERNEL, SEQUENCE, TRACE, Array, FactTable, Floats
from nsight_insight.views.join import kernels_of
from nsight_insight.views.weight_casts import weight_casts

if TYPE_CHECKING:
    from nsight_insight.views.build import Views

NS: Final = 1e9
RANGES: Final = 5


def precision_ledger(views: Views) -> PrecisionLedger | None:
    """The ledger of a profile; None where no kernel converts anything, by name or by ncu's count."""
    found = converting_rows(views.activities)
    instructions = _instructions(views[KERNEL])
    chosen = found.kind != None  # noqa: E711  elementwise
    if not chosen.any() and instructions is None:
        return None
    pure, total = found.converting, float(found.time.sum())
    time = float(found.time[pure].sum())
    casts = float(found.time[np.isin(found.kind.astype(str), ("cast down", "cast up", "cast"))].sum())
    inherent = _inherent(views[TRACE], casts)
    pingpong = _pingpong(views, found)
    return PrecisionLedger(
        conversions=_conversions(views, found, total),
        launches=int(found.launches[pure].sum()),
        time_ns=time * NS,
        share=time / total if total > 0 else 0.0,
        steps=found.steps,
        pingpong_launches=pingpong and pingpong[0],
        pingpong_ns=pingpong and pingpong[1],
        weight_casts=weight_casts(views.activities),
        inherent_ns=None if inherent is None else inherent * NS,
        avoidable_ns=None if inherent is None else (casts - inherent) * NS,
        instructions=instructions,
        ranges=_ranges(views, found),
        balance=balance_of(views, found),
    )


def _conversions(views: Views, found: Rows, total: float) -> tuple[Conversion, ...]:
    """One entry per kind and pair of types, most time first, those fused into other work last."""
    at = np.flatnonzero(found.kind != None)  # noqa: E711  elementwise
    fused = found.kind[at] == "fused"
    source = np.where(fused, "", found.dtype_in[at])
    target = np.where(fused, "", found.dtype_out[at])
    codes, first = codes_of(found.kind[at], source, target)
    around, moved = neighbours(views, found), _bytes(views, found)
    entries = []
    for code in range(len(first)):
        chosen = np.zeros(len(found.rows), dtype=bool)
        chosen[at[codes == code]] = True
        types = (str(source[first[code]]), str(target[first[code]]))
        entries.append(_entry(found, chosen, types, total, moved, around))
    return tuple(sorted(entries, key=lambda e: (e.kind == "fused", -round(e.time_ns), e.kind, e.dtype_in, e.dtype_out)))


def _entry(
    found: Rows, chosen: Array, types: tuple[str, str], total: float, moved: Floats, around: Neighbours | None
) -> Conversion:
    time, inside = float(found.time[chosen].sum()), chosen & found.steady
    measured = chosen & ~np.isnan(moved)
    return Conversion(
        kind=found.kind[np.flatnonzero(chosen)[0]],
        dtype_in=types[0],
        dtype_out=types[1],
        launches=int(found.launches[chosen].sum()),
        time_ns=time * NS,
        share=time / total if total > 0 else 0.0,
        step_launches=float(found.launches[inside].sum()) / found.steps if found.steps else None,
        step_ns=float(found.time[inside].sum()) * NS / found.steps if found.steps else None,
        bytes=float(moved[measured].sum()) if measured.any() else None,
        measured_ns=float(found.time[measured].sum()) * NS,
        flows=flows(around, found, chosen),
    )


def _bytes(views: Views, found: Rows) -> Floats:
    """DRAM bytes per row: its kernel's by ncu, in proportion to time; NaN where ncu did not measure the kernel."""
    moved = views[KERNEL].values.get("dram_bytes_moved")
    if moved is None:
        return np.full(len(found.rows), np.nan)
    kernel = kernels_of(views.activities).groups.codes
    whole = np.bincount(kernel, weights=found.time, minlength=len(moved))[kernel]
    with np.errstate(all="ignore"):
        return np.asarray(moved[kernel] * found.time / whole, dtype=np.float64)


def _inherent(trace: FactTable, casts: float) -> float | None:
    """Seconds of casts that FP32 master weights need, as far as optimizers show their size."""
    known = trace.values.get("master_cast_time")
    if known is None or np.isnan(known).all() or not casts:
        return None
    return min(float(np.nansum(known)), casts)


def _pingpong(views: Views, found: Rows) -> tuple[int, float] | None:
    """Launches and ns of casts that are undone soon after; None without an order, or where types are not named."""
    table = views[SEQUENCE]
    undone = table.values.get("pingpong")
    if undone is None or len(table) != len(found.rows):
        return None
    chosen = undone == 1
    return int(table.launches[chosen].sum()), float(table.time[chosen].sum()) * NS


def _instructions(kernels: FactTable) -> Instructions | None:
    converting = kernels.values.get("conversion_instructions")
    executed = kernels.values.get("thread_instructions")
    if converting is None or executed is None:
        return None
    known = ~np.isnan(converting) & ~np.isnan(executed) & (executed > 0)
    if not known.any() or not converting[known].any():
        return None
    top = int(np.argmax(np.where(known, converting, -1.0)))
    return Instructions(
        converting=float(converting[known].sum()),
        executed=float(executed[known].sum()),
        covered=float(kernels.time[known].sum() / kernels.time.sum()) if kernels.time.any() else 0.0,
        top=str(kernels.values["name"][top]),
        top_share=float(converting[top] / executed[top]),
    )


def _ranges(views: Views, found: Rows) -> tuple[RangeCost, ...]:
    names = range_names(views.activities, found.rows)
    pure = found.converting
    if not (names[pure] != "").any():
        return ()
    codes, first = codes_of(names)
    whole = np.bincount(codes, weights=found.time, minlength=len(first)) * NS
    time = np.bincount(codes, weights=found.time * pure, minlength=len(first)) * NS
    launches = np.bincount(codes, weights=found.launches * pure, minlength=len(first))
    costs = [
        RangeCost(str(names[at]), int(launches[code]), float(time[code]), float(whole[code]))
        for code, at in enumerate(first)
        if time[code] > 0
    ]
    return tuple(sorted(costs, key=lambda cost: (-round(cost.time_ns), cost.name))[:RANGES])
