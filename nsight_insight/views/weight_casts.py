"""How often each weight is cast to 16 bits per training step, where sizes tell weights from activations.

A per-parameter optimizer loop launches ``addcdiv`` once per parameter and step, so its grids are the sizes of the
parameters. PyTorch gives a block the same number of elements in ``addcdiv`` on FP32 and in the cast from FP32 (both
move at least 4 bytes per element), so equal grids are equal sizes. Activations may have a parameter's size by
chance, but hardly the same multiple of the number of parameters in several sizes at once.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.catalog.kernels import classify
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Bools, Floats, Ints
from nsight_insight.views.optimizer import find_loop
from nsight_insight.views.steps import find_steps

SIZES: Final = 3
"""Different sizes that must show the same multiple."""
CASTS: Final = frozenset({"pytorch-cast-fp16", "pytorch-cast-bf16"})
VECTORISED: Final = "vectorized_elementwise_kernel"
"""Strided casts give blocks other numbers of elements."""


def weight_casts(acts: Activities) -> int | None:
    """Casts per weight and step: 1 is what FP32 weights need, more is repeated work; None where sizes do not tell.

    The lowest of several devices, so that a number above 1 holds for all of them.
    """
    rows, device = acts.base, acts.device[acts.base]
    found = [repeats_of(acts, rows[device == index]) for index in np.unique(device)]
    if not found or any(entry is None for entry in found):
        return None
    return min(entry[0] for entry in found if entry is not None)


def repeats_of(acts: Activities, rows: Ints) -> tuple[int, Bools] | None:
    """Casts per weight and step on one device, and which of ``rows`` are those casts."""
    steps = find_steps(acts, rows)
    steady = steps.steady() if steps is not None else None
    if steps is None or steps.index is None or steady is None:
        return None
    number = steady[1] - steady[0]
    inside = (steps.index >= steady[0]) & (steps.index < steady[1])
    anchor, cast = find_loop(acts, rows).addcdiv, _casts(acts, rows)
    grid, block = acts.grid[rows], acts.block[rows]
    usable = inside & (grid > 1) & ~np.isnan(block)
    multiples = _multiples(grid, usable & anchor, usable & cast, number)
    for multiple in sorted(set(multiples.values()), reverse=True):
        agreeing = [size for size, times in multiples.items() if times == multiple]
        if len(agreeing) >= SIZES and 2 * len(agreeing) > len(multiples):
            return multiple, cast & np.isin(grid, agreeing)
    return None


def _casts(acts: Activities, rows: Ints) -> Bools:
    codes = acts.name_codes[0][rows]
    held, first, place = np.unique(codes, return_index=True, return_inverse=True)
    names = [str(acts.column("name")[rows[at]]) for at in first]
    wanted = np.array([VECTORISED in name and classify(name).pattern in CASTS for name in names], dtype=bool)
    found: Bools = wanted[place.reshape(-1)] if len(held) else np.zeros(0, dtype=bool)
    return found


def _multiples(grid: Floats, anchor: Bools, cast: Bools, steps: int) -> dict[float, int]:
    """Grid -> casts per parameter and step, of the sizes where that is a whole number."""
    found = {}
    for size in np.unique(grid[anchor]):
        parameters, casts = int((anchor & (grid == size)).sum()), int((cast & (grid == size)).sum())
        if casts and parameters % steps == 0 and casts % parameters == 0:
            found[float(size)] = casts // parameters
    return found
