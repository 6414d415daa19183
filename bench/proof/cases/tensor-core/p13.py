"""
id: P13
tool: nsys
title: BF16 product of 4095 x 4097 x 4095
planted: odd leading dimensions rule out 16-byte loads and TMA
cure: padded to 4096 and 4160
expect: [tensor-core/misaligned-operands, tensor-core/legacy-tensor-path]
wrong: precision; launch overhead
"""

import torch


def make(device):
    def operands(m, k, n):
        return [(torch.randn(m, k, device=device).bfloat16(), torch.randn(k, n, device=device).bfloat16()) for _ in range(4)]

    odd, even = operands(4095, 4097, 4095), operands(4096, 4160, 4096)
    return lambda step: [a @ b for a, b in odd], lambda step: [a @ b for a, b in even]
