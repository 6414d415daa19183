"""Normalizations and softmaxes written as several kernels, each of which reads and writes the tensor again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Bools, Floats, Ints
from nsight_insight.views.kernel_totals import one_of
from nsight_insight.views.runs import InOrder, attention_mask, hand_softmaxes, in_order

if TYPE_CHECKING:
    from nsight_insight.views.totals import Totals

BEFORE: Final = 3
"""Kernels between the mean and the inverse root: sum with epsilon, casts of the statistics."""
AFTER: Final = 3
"""Kernels that apply the statistics: product with the inverse root, cast, product with the weight."""
BETWEEN: Final = 4
"""Kernels between the variance and the root of a layer normalization: mean, difference, sum with epsilon, a cast."""
_ROOT: Final = "rsqrt_kernel"
_ANY_ROOT: Final = "sqrt_kernel"
_VARIANCE: Final = "WelfordOps<"
_QUOTIENT: Final = ("DivFunctor", "MulFunctor")
_AFFINE: Final = (*_QUOTIENT, "CUDAFunctor_add")
_MEAN: Final = "MeanOps<"
_SQUARE: Final = ("pow_tensor_scalar", "MulFunctor")


def norm_chains(acts: Activities, rows: Ints) -> tuple[Floats, Floats]:
    """Seconds of each row inside such chains, and the part of it that one fused kernel saves.

    A fused kernel reads and writes the tensor once, like the chain's longest elementwise kernel, which therefore
    stays. Softmaxes of attention written out are not among them. NaN where start times are missing.
    """
    inside, saved = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    timed = ~np.isnan(acts.column("start")[rows])
    if not timed.any():
        return inside, saved
    ordered = in_order(acts, rows[timed])
    duration = np.nan_to_num(acts.seconds(ordered.rows))
    chained, gain = np.zeros(len(duration)), np.zeros(len(duration))
    for first, last in _chains(acts, ordered):
        part = slice(first, last)
        passes = np.where(ordered.family[part] == "elementwise", duration[part], -1.0)
        chained[part] = duration[part]
        gain[part] = duration[part]
        gain[first + int(np.argmax(passes))] = 0.0
    for target, values in ((inside, chained), (saved, gain)):
        placed = np.empty(len(values))
        placed[ordered.place] = values
        target[timed] = placed
    return inside, saved


def norm_facts(acts: Activities, rows: Ints, totals: Totals) -> None:
    """Add the time of the chains at ``rows``, all with start times."""
    inside, _ = norm_chains(acts, rows)
    totals.add("norm_chain_time", rows, inside, inside > 0)


def _chains(acts: Activities, ordered: InOrder) -> list[tuple[int, int]]:
    """First place and one past the last of every chain."""
    attention = attention_mask(acts, ordered)
    softmaxes, _ = hand_softmaxes(acts, ordered)
    found = [(place - 2, place + 3) for place in softmaxes if not attention[place]]
    found += _layer_norms(acts, ordered)
    roots = acts.named(ordered.rows, lambda name: _ROOT in name)
    means = acts.named(ordered.rows, lambda name: _MEAN in name) & (ordered.family == "reduction")
    squares = acts.named(ordered.rows, lambda name: any(word in name for word in _SQUARE))
    pointwise = one_of(ordered.family, ("elementwise", "cast"))
    for root in np.flatnonzero(roots).tolist():
        mean = next((place for place in range(root - 1, root - 1 - BEFORE, -1) if place > 0 and means[place]), None)
        if mean is None or not squares[mean - 1]:
            continue
        first = mean - 2 if mean > 1 and ordered.family[mean - 2] == "cast" else mean - 1
        last = root + 1
        while last < len(pointwise) and last <= root + AFTER and _applies(ordered, pointwise, squares, last):
            last += 1
        if last > root + 1 and len(np.unique(ordered.stream[first:last])) == 1:
            found.append((first, last))
    return found


def _layer_norms(acts: Activities, ordered: InOrder) -> list[tuple[int, int]]:
    """Chains of mean, variance, difference, root and quotient, with gain and bias where they follow."""

    def named(*words: str) -> Bools:
        return acts.named(ordered.rows, lambda name: any(word in name for word in words))

    reduction = ordered.family == "reduction"
    means, variances = named(_MEAN) & reduction, named(_VARIANCE) & reduction
    quotients, affine, pointwise = named(*_QUOTIENT), named(*_AFFINE), one_of(ordered.family, ("elementwise", "cast"))
    found = []
    for root in np.flatnonzero(named(_ANY_ROOT)).tolist():
        before = range(root - 1, max(root - 1 - BETWEEN, -1), -1)
        first = next((place for place in before if variances[place]), None)
        if first is None or root + 1 >= len(affine) or not quotients[root + 1]:
            continue
        first -= int(first > 0 and means[first - 1])
        last = root + 1
        while last < len(affine) and last <= root + AFTER and affine[last] and pointwise[last]:
            last += 1
        if len(np.unique(ordered.stream[first:last])) == 1:
            found.append((first, last))
    return found


def _applies(ordered: InOrder, pointwise: Bools, products: Bools, place: int) -> bool:
    """True for a kernel that multiplies or converts: what follows the inverse root."""
    return bool(pointwise[place] and (products[place] or ordered.family[place] == "cast"))
