"""The ledger and the account of a report: views' facts, and what the rules said about matrix work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from nsight_insight.views.ledger import precision_ledger
from nsight_insight.views.tensor_account import Verdicts, tensor_account

if TYPE_CHECKING:
    from nsight_insight.model.ledger import PrecisionLedger, TensorAccount
    from nsight_insight.rules.evaluate import Outcome
    from nsight_insight.views.build import Views

MATRIX_CAUSES: Final = {
    "tensor-core/fp32-matrix-on-cuda-cores": "FP32 on CUDA cores",
    "tensor-core/16bit-matrix-on-cuda-cores": "16 bits on CUDA cores",
    "tensor-core/fp32-attention": "attention with FP32 operands",
    "tensor-core/fp64-matrix": "FP64",
    "tensor-core/small-matrix-kernels": "many small products",
    "tensor-core/misaligned-operands": "misaligned operands",
    "tensor-core/legacy-tensor-path": "kernels built for an older architecture",
    "tensor-core/tf32-where-16bit-fits": "TF32 instead of 16 bits",
    "occupancy/small-grid": "grid does not fill the GPU",
    "occupancy/tail-effect": "partial last wave",
    "memory/dram-bandwidth-bound": "below the ridge: bound by memory",
    "memory/l1-bandwidth-bound": "bound by L1: operands loaded for one use each",
    "tensor-core/low-tensor-utilization": "tensor pipe idle for lack of data",
}
"""Rule id -> why matrix work is not at the peak, in the order in which they count: precision first."""


def accounts(views: Views, outcomes: Mapping[str, Outcome]) -> tuple[PrecisionLedger | None, TensorAccount | None]:
    """Both accounts of a profile; None where there is nothing to account for."""
    verdicts = [
        Verdicts(cause, rule, outcomes[rule].rule.scope, outcomes[rule].fired)
        for rule, cause in MATRIX_CAUSES.items()
        if rule in outcomes
    ]
    return precision_ledger(views), tensor_account(views, verdicts)
