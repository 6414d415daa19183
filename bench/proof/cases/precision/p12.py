"""
id: P12
tool: nsys
title: FP8 products with quantization in every call
planted: absolute maximum, scaling and conversion of activations and weights cost more than FP8 saves
cure: BF16 products
expect: [precision/quantize-overhead, precision/cast-kernels]
wrong: FP8 as a saving; larger matrices only
"""

import torch


def make(device):
    x = torch.randn(2048, 4096, device=device).bfloat16()
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(4)]

    def quantize(t):
        scale = t.abs().max().float() / 448.0
        return (t / scale).to(torch.float8_e4m3fn), scale

    def low():
        y = x
        for w in weights:
            q, s = quantize(y)
            p, r = quantize(w)
            y = torch._scaled_mm(q, p.t(), scale_a=s, scale_b=r, out_dtype=torch.bfloat16)
        return y

    def direct():
        y = x
        for w in weights:
            y = y @ w.t()
        return y

    return lambda step: low(), lambda step: direct()
