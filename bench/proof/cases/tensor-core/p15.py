"""
id: P15
tool: nsys
title: 256 separate products of 64 x 64 matrices
planted: independent small products launched one by one
cure: one batched product
expect: [tensor-core/small-matrix-kernels, launch/tiny-kernels, idle/launch-bound]
wrong: BF16 or TF32 as the remedy
"""

import torch


def make(device):
    a = torch.randn(256, 64, 64, device=device).bfloat16()
    b = torch.randn(256, 64, 64, device=device).bfloat16()
    pairs = list(zip(a.unbind(), b.unbind(), strict=True))
    return lambda step: [p @ q for p, q in pairs], lambda step: torch.bmm(a, b)
