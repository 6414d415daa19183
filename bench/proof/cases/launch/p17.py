"""
id: P17
tool: nsys
title: Attention written out
planted: scores and weights of 2048 x 2048 per head are written to memory and read again
cure: scaled_dot_product_attention
expect: [launch/unfused-attention]
wrong: precision; casts
"""

import torch
import torch.nn.functional as F


def make(device):
    q, k, v = (torch.randn(4, 16, 2048, 64, device=device).bfloat16() for _ in range(3))

    def written_out():
        weights = torch.softmax((q @ k.transpose(-2, -1)) * 0.125, dim=-1)
        return weights @ v

    return lambda step: written_out(), lambda step: F.scaled_dot_product_attention(q, k, v)
