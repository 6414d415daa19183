"""Whether low precision pays: the time in conversions against what narrow operands save on this GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.ledger import Balance, Comparison, Verdict
from nsight_insight.views.facts import KERNEL, Array, Bools, FactTable, Floats
from nsight_insight.views.kernel_totals import BYTES, MATRIX, NARROW, one_of

if TYPE_CHECKING:
    from nsight_insight.views.build import Views
    from nsight_insight.views.conversions import Rows

NS: Final = 1e9
BASELINES: Final = (("FP32", "gain_16bit", 0.9), ("TF32", "gain_16bit_over_tf32", 0.65))
"""Name, peak ratio on this GPU, and the part of it that large products realise (as the rules on FP32 and TF32 matrix
work: 7.2 predicted and 6.9 measured on an A100; TF32 to mixed precision 1.1 to 2.6 at a ratio of 2)."""


def balance_of(views: Views, found: Rows) -> Balance | None:
    """The balance of a profile; None without conversions or without narrow matrix kernels."""
    table = views[KERNEL]
    cost = float(found.time[found.family == "cast"].sum())
    narrow = one_of(found.dtype_in, NARROW)
    matrix = narrow & one_of(found.family, MATRIX)
    other = narrow & ~matrix & ~found.converting
    if not cost or not _narrow_products(views[KERNEL]).any():
        return None
    rest = float(found.time[other].sum())
    whole = bool((views.activities.tool[found.rows] != "ncu").all())
    compared = (_compared(table, *baseline, cost=cost, other=rest, whole=whole) for baseline in BASELINES)
    return Balance(
        cost * NS, float(found.time[matrix].sum()) * NS, rest * NS, tuple(entry for entry in compared if entry)
    )


def _compared(
    table: FactTable, baseline: str, ratio: str, realised: float, *, cost: float, other: float, whole: bool
) -> Comparison | None:
    """None where the GPU has no such type, or nothing is known about it."""
    values = table.values
    matrix = _narrow_products(table)
    gains, time = values[ratio][matrix] * _over_16bit(values["dtype_in"][matrix]), table.time[matrix]
    if np.isnan(gains).any():
        return None
    best = float((time * np.maximum(gains - 1.0, 0.0)).sum())
    gain = float((time * np.maximum(gains * realised - 1.0, 0.0)).sum())
    guess = table.assumptions.get(ratio, "")
    mean = float(np.average(gains, weights=time)) if time.any() else float(gains.mean())
    text = f"peak of their types {mean:.3g}x {baseline}, {realised * 100:.0f} % of it realised"
    verdict: Verdict = "undecided"
    if whole and not guess:
        verdict = _verdict(cost, gain, best + other)
    return Comparison(baseline, gain * NS, best * NS, f"{text}; {guess}" if guess else text, verdict)


def _narrow_products(table: FactTable) -> Bools:
    """Matrix kernels with narrow operands that nothing places on CUDA cores, where narrow types bring little."""
    values = table.values
    narrow = one_of(values["family"], MATRIX) & one_of(values["dtype_in"], NARROW)
    return np.asarray(narrow & (values["tensor_core"] != "no"), dtype=bool)


def _verdict(cost: float, gain: float, most: float) -> Verdict:
    """Only a cost above all that could be gained is called too high, and one below what is usual is called paid."""
    if cost > most:
        return "costs more"
    return "pays" if cost < gain else "undecided"


def _over_16bit(dtype: Array) -> Floats:
    """Peak over the 16-bit peak: Tensor Cores double their rate with every halving of the operands."""
    return np.where(one_of(dtype, BYTES[2:]), 4.0, np.where(one_of(dtype, BYTES), 2.0, 1.0))
