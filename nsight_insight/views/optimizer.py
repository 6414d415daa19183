"""The signature of a per-parameter optimizer loop: the same few elementwise kernels once per parameter.

PyTorch's Adam and AdamW with ``foreach=False`` launch, per parameter and step, ``lerp``, ``mul``, ``addcmul``,
``sqrt``, ``div`` (a ``mul`` by the reciprocal), ``add`` and ``addcdiv`` (torch/optim/adam.py,
``_single_tensor_adam``). Only ``addcdiv`` is rarely used elsewhere, so it is what the loop is recognised by.
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
        anchor = (patterns == ANCHOR) & (launches >= MIN_LAUNCHES) & (seconds / launches <= MAX_MEAN)
    member = anchor | (candidates & _in_step(launches, launches[anchor]))
    if not (member & ~anchor).any():
        member = anchor = np.zeros(len(names), dtype=bool)
    return Loop(member[groups.codes], anchor[groups.codes])


def _cut_before_operator(name: str) -> bool:
    found = CUT_BEFORE_OPERATOR.search(name)
    return found is not None and found.end() == len(name)


def _in_step(launches: Floats, anchors: Array) -> Bools:
    """Launch counts that are one to three times those of some addcdiv kernel."""
    multiples = (np.arange(1, MAX_MULTIPLE + 1)[:, None] * anchors[None, :]).reshape(-1)
    return np.isin(launches, multiples)
