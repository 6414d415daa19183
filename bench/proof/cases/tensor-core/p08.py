"""
id: P08
tool: nsys
title: BF16 tensors multiplied as FP32
planted: .float() on both operands before the product
cure: the BF16 product
expect: [tensor-core/fp32-matrix-on-cuda-cores, precision/upcast-before-matrix]
remedy: autocast-bf16
wrong: launch overhead; DRAM
"""

import torch


def make(device):
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    a = torch.randn(4096, 4096, device=device).bfloat16()
    b = torch.randn(4096, 4096, device=device).bfloat16()
    return lambda step: (a.float() @ b.float()).bfloat16(), lambda step: a @ b
