"""
id: P203
tool: nsys
title: Layer normalization from a paper's formula
planted: mean, variance, difference, division, gain and bias are separate kernels
cure: torch.nn.functional.layer_norm
expect: [launch/handwritten-normalization]
wrong: precision; launch overhead
"""

import torch
import torch.nn.functional as F

ROWS, WIDTH, LAYERS = 16384, 2048, 4


def make(device):
    x = torch.randn(ROWS, WIDTH, device=device).bfloat16()
    weights = [(torch.randn(WIDTH, WIDTH, device=device) / 45).bfloat16() for _ in range(LAYERS)]
    gain = torch.rand(WIDTH, device=device).bfloat16()
    bias = torch.rand(WIDTH, device=device).bfloat16()

    def formula(y):
        mean = y.mean(-1, keepdim=True)
        variance = y.var(-1, keepdim=True, unbiased=False)
        return (y - mean) / torch.sqrt(variance + 1e-5) * gain + bias

    def library(y):
        return F.layer_norm(y, (WIDTH,), gain, bias, 1e-5)

    def stack(normalize):
        def step(number):
            y = x
            for w in weights:
                y = normalize(y) @ w
            return y

        return step

    return stack(formula), stack(library)
