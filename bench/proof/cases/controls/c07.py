"""
id: C07
kind: control
tool: nsys
title: BF16 attention layers, fused, inference
wrong: unfused attention; casts; precision
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(8, 4096, 2048, device=device).bfloat16()
    qkv = (torch.randn(6144, 2048, device=device) / 45).bfloat16()
    out = (torch.randn(2048, 2048, device=device) / 45).bfloat16()

    def step(number):
        q, k, v = F.linear(x, qkv).view(8, 4096, 3, 16, 128).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.linear(y.transpose(1, 2).reshape(8, 4096, 2048), out)

    return step
