"""The GPU that a user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsight_insight.errors import UsageError

if TYPE_CHECKING:
    from nsight_insight.catalog.gpus import Gpu


def chosen_gpu(name: str) -> Gpu:
    """The catalogue's entry for a GPU's name.

    Raises:
        UsageError: unknown or ambiguous; names the nearest.
    """
    from nsight_insight.catalog.gpus import find_gpu, near_matches

    gpu = find_gpu(name)
    if gpu is None:
        near = near_matches(name)
        hint = f"did you mean {', '.join(near)}?" if near else "pass the name that nvidia-smi prints"
        raise UsageError(f"unknown or ambiguous GPU {name!r}; {hint}")
    return gpu
