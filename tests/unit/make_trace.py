"""Timelines with known steps, for comparing: a step is a list of kernels, run one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from nsight_insight.model.profile import Device, Profile
from tests.unit.make_profile import make_profile

H200 = Device(0, "NVIDIA H200", cc=9.0)
GAP = 500.0
"""ns between kernels."""
Kernel = tuple[str, float]
"""Name and duration in ns."""


def steps_of(step: Sequence[Kernel], count: int = 6, *, jitter: Sequence[float] = (), grid: float = 264.0) -> Profile:
    """A trace of ``count`` equal steps, each in an NVTX range ``step N``; the first one is warm-up.

    Args:
        step: the kernels of a step.
        count: steps.
        jitter: factor on the durations of each step; 1 where it is shorter than the steps.
        grid: blocks of every kernel.
    """
    rows = []
    now = 1000.0
    for number in range(count):
        factor = jitter[number] if number < len(jitter) else 1.0
        for name, duration in step:
            rows.append(
                {
                    "name": name, "start": now, "duration": duration * factor, "device": 0, "stream": 7,
                    "nvtx": f"step {number}", "grid_x": grid, "block_x": 256.0, "correlation": len(rows),
                }
            )  # fmt: skip
            now += duration * factor + GAP
    return make_profile(rows, devices=[H200], report="cuda_gpu_trace")
