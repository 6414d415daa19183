"""
id: P11
tool: nsys
title: INT8 weights dequantized for every product
planted: a conversion and a scaling kernel per layer and step
cure: the dequantized weights kept
expect: [precision/cast-kernels, precision/quantize-overhead]
wrong: batch size; misalignment
"""

import torch


def make(device):
    x = torch.randn(128, 4096, device=device).bfloat16()
    stored = [torch.randint(-127, 128, (4096, 4096), device=device, dtype=torch.int8) for _ in range(4)]
    scale = torch.full((1, 4096), 0.001, device=device).bfloat16()
    kept = [w.bfloat16() * scale for w in stored]

    def dequantizing():
        y = x
        for w in stored:
            y = y @ (w.bfloat16() * scale)
        return y

    def direct():
        y = x
        for w in kept:
            y = y @ w
        return y

    return lambda step: dequantizing(), lambda step: direct()
