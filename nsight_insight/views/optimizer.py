"""The signatures of optimizers that are not fused: a loop over parameters, and one pass over all per operation.

PyTorch's Adam and AdamW with ``foreach=False`` launch, per parameter and step, ``lerp``, ``mul``, ``addcmul``,
``sqrt``, ``div`` (a ``mul`` by the reciprocal), ``add`` and ``addcdiv`` (torch/optim/adam.py,
``_single_tensor_adam``). Only ``addcdiv`` is rarely used elsewhere, so it is what the loop is recognised by.
With ``foreach=True``, the default on CUDA, ``_multi_tensor_adam`` runs the same operations as ``multi_tensor_apply``
kernels over all parameters; division with a scalar per tensor is what no gradient clipping or averaging does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.catalog.kernels import classify
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Array, Bools, Floats, Ints
from nsight_insight.views.groups import Groups

ANCHOR: Final = "pytorch-addcdiv"
COMPANIONS: Final = frozenset(
    {"pytorch-lerp", "pytorch-addcmul", "pytorch-sqrt", "pytorch-mul", "pytorch-add", "pytorch-div"}
)
"""Pattern ids of ``catalog/kernels.yaml``."""
CUT_BEFORE_OPERATOR: Final = re.compile("(?:[AB]Unary|Binary)Functor<[\\w, :]*\u2026")
"""End of a name that nsys cut for people before the operation; the count of launches must tell then."""
MIN_LAUNCHES: Final = 20
WITNESSES: Final = ("pytorch-lerp", "pytorch-addcmul", "pytorch-sqrt")
MIN_WITNESSED: Final = 2
"""Launches of addcdiv that are enough where all ``WITNESSES`` keep step with it: ncu captures few launches."""
FOREACH: Final = "pytorch-foreach"
FOREACH_DIVIDES: Final = re.compile(r"(?:ScalarList|Pointwise\w*)Functor.*\bdivides\b|TensorListScalarListMe")
"""``addcdiv`` or the bias correction of Adam; nsys cuts the name in tables for people, where the type of the
argument list, one scalar per tensor, must tell."""
MAX_MULTIPLE: Final = 3
"""A kernel may serve the loop more than once per parameter: AdamW multiplies twice by a scalar."""
MAX_MEAN: Final = 100e-6
"""Seconds; where each launch is longer than this, launching per parameter costs little."""


@dataclass(frozen=True)
class Loop:
    """Rows that belong to a loop, and those of its addcdiv kernels."""

    members: Bools
    addcdiv: Bools


def find_loop(acts: Activities, rows: Ints) -> Loop:
    """The loop among the kernels at ``rows`` (one device); nothing but False where there is none."""
    names, codes = np.unique(acts.name_codes[0][rows], return_inverse=True)
    groups = Groups(codes.reshape(-1).astype(np.int64), len(names))
    first = np.full(len(names), len(rows), dtype=np.int64)
    np.minimum.at(first, groups.codes, np.arange(len(rows)))
    written = [str(name) for name in acts.column("name")[rows[first]]]
    patterns = np.array([classify(name).pattern for name in written], dtype=object)
    unnamed = np.array([_cut_before_operator(name) for name in written], dtype=bool)
    candidates = np.isin(patterns, sorted(COMPANIONS)) | unnamed
    launches = np.nan_to_num(groups.sum(acts.count(rows)))
    seconds = groups.sum(acts.seconds(rows))
    with np.errstate(all="ignore"):
        short = (patterns == ANCHOR) & (seconds / launches <= MAX_MEAN)
    anchor = short & (launches >= MIN_LAUNCHES)
    if not anchor.any() and _witnessed(patterns, launches, short & (launches >= MIN_WITNESSED)):
        anchor = short & (launches >= MIN_WITNESSED)
    member = anchor | (candidates & _in_step(launches, launches[anchor]))
    if not (member & ~anchor).any():
        member = anchor = np.zeros(len(names), dtype=bool)
    return Loop(member[groups.codes], anchor[groups.codes])


def find_foreach(acts: Activities, rows: Ints) -> Bools:
    """True for the ``multi_tensor_apply`` kernels of an Adam that is not fused, at ``rows`` (one device)."""
    foreach = acts.named(rows, lambda name: classify(name).pattern == FOREACH)
    divides = acts.named(rows, lambda name: bool(FOREACH_DIVIDES.search(name)))
    return foreach & bool((foreach & divides).any())


def _cut_before_operator(name: str) -> bool:
    found = CUT_BEFORE_OPERATOR.search(name)
    return found is not None and found.end() == len(name)


def _witnessed(patterns: Array, launches: Floats, anchor: Bools) -> bool:
    beside = set(patterns[_in_step(launches, launches[anchor])])
    return beside.issuperset(WITNESSES)


def _in_step(launches: Floats, anchors: Array) -> Bools:
    """Launch counts that are one to three times those of some addcdiv kernel, or of one more.

    addcdiv comes last for each parameter, so a capture that ends within a step has begun one parameter more.
    """
    multiples = np.arange(1, MAX_MULTIPLE + 1)[:, None, None] * (anchors[None, :, None] + np.array([0.0, 1.0]))
    return np.isin(launches, multiples.reshape(-1))
