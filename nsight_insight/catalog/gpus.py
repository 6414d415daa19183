"""GPUs: their peaks, their names, and what to assume about an unknown one."""

from __future__ import annotations

from nsight_insight.catalog.gpu_guess import Gain, GpuGuess, unknown_gpu
from nsight_insight.catalog.gpu_names import find_gpu, near_matches
from nsight_insight.catalog.gpu_table import GAINS, ComputeCapability, Gpu, compute_capability, load_gpus

__all__ = [
    "GAINS",
    "ComputeCapability",
    "Gain",
    "Gpu",
    "GpuGuess",
    "compute_capability",
    "find_gpu",
    "load_gpus",
    "near_matches",
    "unknown_gpu",
]
