"""Facts derived from metrics, for launches and for kernels alike."""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.views.facts import STALLS, Array, Floats, without
from nsight_insight.views.work import Columns, coalesce

LIMITS: Final = ("warps", "blocks", "registers", "shared_mem", "barriers")
"""Occupancy limits; of equal ones the first is named. A full SM blames nothing, and where a kernel uses no shared
memory ncu prints the hardware's number of blocks for it, which is the limit on blocks."""
CHIP_STALLS: Final = frozenset({"imc_miss", "gmma", "misc"})
"""Stall reasons that not every chip or section has; the others must all be known to name the largest."""
_NOT_WAITING: Final = ("selected", "not_selected")
_PERSISTENT: Final = ("persistent", "streamk", "stream_k")
WARP: Final = 32.0


def derive(columns: Columns) -> dict[str, Array]:
    """Every derived fact; formulas in ``vocabulary``.

    Args:
        columns: canonical metrics, ``grid``, ``sm_count``, ``tensor_cap``, ``name``, the ``work_*`` columns,
            and ``duration`` in seconds of the same launches.
    """
    with np.errstate(all="ignore"):
        return {
            "max_throughput": np.maximum(columns("sm_throughput"), columns("memory_throughput")),
            "tensor_utilization": np.minimum(columns("tensor_active") / columns("tensor_cap"), 1.0),
            "tail_loss": tail_loss(columns),
            "grid_fill": np.minimum(columns("grid") / columns("sm_count"), 1.0),
            "occupancy_limiter": occupancy_limiter(columns),
            "occupancy_gap": np.maximum(columns("theoretical_occupancy") - columns("achieved_occupancy"), 0.0),
            "thread_efficiency": columns("threads_per_instruction") / WARP,
            "wave_count": columns("waves"),
            "dram_bytes_moved": columns("work_bytes"),
            "tensor_flops_rate": columns("work_tensor") / columns("duration"),
            "arithmetic_intensity": _over(columns("work_ops"), columns("work_bytes"), np.nan),
            "ridge": columns("peak_own") / columns("dram_bandwidth"),
            **_instructions(columns),
            **_memory(columns),
            **stalls(columns),
        }


def tail_loss(columns: Columns) -> Floats:
    """Idle part of the last wave, ``1 - w/ceil(w)``; 0 up to one wave and for persistent kernels.

    NVIDIA's rule prints 1/(1+floor(w)), the same for 1.02 and 1.98 waves.
    """
    waves = columns("waves")
    loss = np.where(waves > 1.0, 1.0 - waves / np.maximum(np.ceil(waves), 1.0), waves * 0.0)
    persistent = np.array([_persistent(name) for name in columns.text("name")], dtype=bool)
    return np.where(persistent, loss * 0.0, loss)


def _persistent(name: object) -> bool:
    return name is not None and any(token in str(name).lower() for token in _PERSISTENT)


def occupancy_limiter(columns: Columns) -> Array:
    """Name of the smallest blocks-per-SM limit; None unless all but the barrier limit are known."""
    limits = np.stack([columns(f"occupancy_limit_{name}") for name in LIMITS])
    unknown = np.asarray(np.isnan(limits[:-1]).any(axis=0), dtype=bool)
    smallest = np.argmin(np.where(np.isnan(limits), np.inf, limits), axis=0)
    return without(np.array(LIMITS, dtype=object)[smallest], unknown)


def _instructions(columns: Columns) -> dict[str, Array]:
    double, single = columns("fp64_instructions"), columns("fp32_instructions")
    return {
        "conversion_share": columns("conversion_instructions") / columns("thread_instructions"),
        "fp64_share": np.where(double == 0, 0.0, double / (double + single)),
    }


def _memory(columns: Columns) -> dict[str, Array]:
    conflicts = coalesce(
        columns("shared_bank_conflicts"),
        columns("shared_load_bank_conflicts") + columns("shared_store_bank_conflicts"),
    )
    wavefronts = coalesce(
        columns("shared_wavefronts"), columns("shared_load_wavefronts") + columns("shared_store_wavefronts")
    )
    local = columns("local_load_sectors") + columns("local_store_sectors")
    everything = local + columns("global_load_sectors") + columns("global_store_sectors")
    excess = columns("sectors_global") - columns("sectors_global_ideal")
    return {
        "excess_sectors": np.clip(_over(excess, columns("sectors_global"), 0.0), 0.0, 1.0),
        "bank_conflict_share": np.clip(_over(conflicts, wavefronts, 0.0), 0.0, 1.0),
        "local_share": _over(local, everything, 0.0),
    }


def _over(part: Array, whole: Array, nothing: float) -> Floats:
    """``part / whole``, ``nothing`` where the whole is zero."""
    return np.where(whole == 0, nothing, part / whole)


def stalls(columns: Columns) -> dict[str, Array]:
    """Shares of warp latency per stall reason, the dominant one, and how far the reasons add up.

    Reasons and latency come from different passes: shares are cut at 1, and ``stall_coverage`` far from 1
    (kernels of a few microseconds) says that they cannot be trusted.
    """
    reasons = np.stack([columns(f"stall_{name}") for name in STALLS])
    needed = np.array([name not in CHIP_STALLS for name in STALLS])
    complete = ~np.isnan(reasons[needed]).any(axis=0)
    total = np.where(complete, np.nansum(reasons, axis=0), np.nan)
    shares = np.clip(reasons / coalesce(columns("warp_latency"), total), 0.0, 1.0)
    waiting = np.array([name not in _NOT_WAITING for name in STALLS])[:, None] & ~np.isnan(shares)
    top = np.argmax(np.where(waiting, shares, -1.0), axis=0)
    found: dict[str, Array] = {f"stall_share_{name}": share for name, share in zip(STALLS, shares, strict=True)}
    found["stall_top"] = without(np.array(STALLS, dtype=object)[top], ~complete)
    found["stall_top_share"] = np.where(complete, shares[top, np.arange(columns.size)], np.nan)
    found["stall_coverage"] = total / columns("warp_latency")
    return found
