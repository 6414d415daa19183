"""
id: P215
tool: nsys
title: Transformer block that casts its FP32 weights in the forward pass
planted: weight.to(bfloat16) for each of six matrices in every micro-batch
cure: weights cast once, outside
expect: [precision/cast-kernels, precision/repeated-weight-casts, precision/mixed-precision-does-not-pay]
remains: {idle/launch-bound: the unprofiled step takes almost a fifth longer than its kernels}
wrong: launch overhead; FP32 products
"""

import torch
import torch.nn.functional as F

WIDTH, HEADS, LENGTH, MICRO = 4096, 32, 512, 4


def make(device):
    x = [torch.randn(1, LENGTH, WIDTH, device=device).bfloat16() for _ in range(MICRO)]
    shapes = [(3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)]
    weights = [torch.randn(*shape, device=device) / 64 for shape in shapes]
    ready = [w.bfloat16() for w in weights]

    def block(y, qkv, out, up, down):
        q, k, v = F.linear(y, qkv).view(1, LENGTH, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(1, LENGTH, WIDTH)
        y = y + F.linear(mixed, out)
        return y + F.linear(F.gelu(F.linear(y, up)), down)

    def casting(number):
        return [block(y, *(w.to(torch.bfloat16) for w in weights)) for y in x]

    return casting, lambda number: [block(y, *ready) for y in x]
