"""How often each weight is cast to 16 bits per training step, where sizes tell weights from activations.

A per-parameter optimizer loop launches ``addcdiv`` once per parameter and step, so its grids are the sizes of the
parameters. PyTorch gives a block the same number of elements in ``addcdiv`` on FP32 and in the vectorised cast from
FP32, so equal grids are equal sizes. Activations may have a parameter's size by chance, but hardly the same multiple
of the number of parameters in several sizes at once.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class WeightCasts:
    """Casts of weights on one device.

    Attributes:
        times: casts per weight and step; 1 is what FP32 weights need.
        repeated: share of each row's time that repeats an earlier cast of the step; 0 for rows that do not. Where
            activations have the size of weights, all casts of the size bear an equal part.
    """

    times: int
    repeated: Floats


def weight_casts(acts: Activities) -> int | None:
    """Casts per weight and step, the lowest of several devices; None where sizes do not tell."""
    rows, device = acts.base, acts.device[acts.base]
    times = []
    for index in np.unique(device):
        found = find_weight_casts(acts, rows[device == index])
        if found is None:
            return None
        times.append(found.times)
    return min(times, default=None)


def find_weight_casts(acts: Activities, rows: Ints) -> WeightCasts | None:
    """The casts of weights among the kernels at ``rows`` (one device); None where sizes do not tell."""
    cast = _casts(acts, rows)
    anchor = find_loop(acts, rows).addcdiv if cast.any() else cast
    steps = find_steps(acts, rows) if anchor.any() else None
    steady = steps.steady() if steps is not None else None
    if steps is None or steps.index is None or steady is None:
        return None
    inside = (steps.index >= steady[0]) & (steps.index < steady[1])
    grid = acts.grid[rows]
    sizes = _sizes(grid, inside & anchor & (grid > 1), inside & cast, steady[1] - steady[0])
    times = _agreed(sizes)
    if times is None:
        return None
    repeated = np.zeros(len(rows))
    for grid_size, (parameters, casts) in sizes.items():
        if casts >= times * parameters:
            repeated[cast & (grid == grid_size)] = (times - 1) * parameters / casts
    return WeightCasts(times, repeated)


def _casts(acts: Activities, rows: Ints) -> Bools:
    codes = acts.name_codes[0][rows]
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    names = [str(acts.column("name")[rows[at]]) for at in first]
    wanted = np.array([VECTORISED in name and classify(name).pattern in CASTS for name in names], dtype=bool)
    found: Bools = wanted[place.reshape(-1)]
    return found


def _sizes(grid: Floats, anchor: Bools, cast: Bools, steps: int) -> dict[float, tuple[int, int]]:
    """Grid -> parameters and casts of that size per step, where both are whole numbers."""
    found = {}
    for size in np.unique(grid[anchor]):
        here = grid == size
        parameters, casts = int((anchor & here).sum()), int((cast & here).sum())
        if casts and parameters % steps == 0 and casts % steps == 0:
            found[float(size)] = (parameters // steps, casts // steps)
    return found


def _agreed(sizes: dict[float, tuple[int, int]]) -> int | None:
    """The multiple that most sizes show among those that show a whole one."""
    multiples = [casts // parameters for parameters, casts in sizes.values() if casts % parameters == 0]
    for multiple in sorted(set(multiples)):
        agreeing = multiples.count(multiple)
        if agreeing >= SIZES and 2 * agreeing > len(multiples):
            return multiple
    return None
