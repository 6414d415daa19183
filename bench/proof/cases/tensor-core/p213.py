"""
id: P213
tool: nsys
title: Causal mask passed as a tensor
planted: a dense mask rules out the newer attention kernels
cure: is_causal=True
expect: [tensor-core/older-attention]
wrong: precision; launch overhead; larger batches
"""

import torch
import torch.nn.functional as F

BATCH, HEADS, LENGTH, DEPTH = 8, 16, 4096, 128


def make(device):
    q, k, v = (torch.randn(BATCH, HEADS, LENGTH, DEPTH, device=device).bfloat16() for _ in range(3))
    mask = torch.ones(LENGTH, LENGTH, device=device, dtype=torch.bool).tril()
    mask = torch.zeros(LENGTH, LENGTH, device=device).masked_fill(~mask, float("-inf")).bfloat16()

    def dense(number):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    return dense, lambda number: F.scaled_dot_product_attention(q, k, v, is_causal=True)
