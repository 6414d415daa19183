"""
id: P10
tool: nsys
title: FP8 weights expanded for every product
planted: the stored FP8 weights are converted to BF16 in each forward pass
cure: the expanded weights kept
expect: [precision/cast-kernels, precision/quantize-overhead]
wrong: batch size; misalignment
"""

import torch


def make(device):
    x = torch.randn(64, 8192, device=device).bfloat16()
    weight = torch.randn(8192, 8192, device=device).to(torch.float8_e4m3fn)
    kept = weight.bfloat16()
    return lambda step: x @ weight.bfloat16(), lambda step: x @ kept
