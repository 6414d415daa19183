"""
id: P226
tool: nsys
title: FP16 product with an inner dimension of 4095
planted: rows of 8190 bytes rule out 16-byte loads
cure: the inner dimension padded to 4096
expect: [tensor-core/misaligned-operands]
wrong: launch overhead; FP8
"""

import torch


def make(device):
    a = torch.randn(6144, 4095, device=device).half()
    b = torch.randn(3072, 4095, device=device).half()
    wide_a, wide_b = (torch.nn.functional.pad(x, (0, 1)) for x in (a, b))

    def product(left, right):
        def step(number):
            for _ in range(4):
                out = left @ right.t()
            return out

        return step

    return product(a, b), product(wide_a, wide_b)
