"""
id: P124
tool: nsys
title: Causal attention written out with a mask
planted: scores, masked scores and weights are separate tensors of 1024 x 1024 per head
cure: scaled_dot_product_attention with is_causal
expect: [launch/unfused-attention]
wrong: precision; casts
"""

import torch
import torch.nn.functional as F


def make(device):
    q, k, v = (torch.randn(16, 16, 1024, 128, device=device).half() for _ in range(3))
    mask = torch.full((1024, 1024), float("-inf"), device=device).half().triu(1)

    def written_out():
        scores = (q @ k.transpose(-2, -1)) * 0.0883883 + mask
        return torch.softmax(scores, dim=-1) @ v

    return lambda step: written_out(), lambda step: F.scaled_dot_product_attention(q, k, v, is_causal=True)
