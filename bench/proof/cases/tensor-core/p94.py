"""
id: P94
tool: nsys
title: Fused attention on FP32 operands
planted: FP32 queries, keys and values rule out the flash kernel
cure: BF16 operands
expect: [tensor-core/fp32-attention]
wrong: launch overhead; fusion
"""

import torch
import torch.nn.functional as F


def make(device):
    full = [torch.randn(4, 16, 2048, 64, device=device) for _ in range(3)]
    half = [t.bfloat16() for t in full]

    def attend(parts):
        return F.scaled_dot_product_attention(*parts, is_causal=True)

    return lambda step: attend(full), lambda step: attend(half)
