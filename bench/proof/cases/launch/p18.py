"""
id: P18
tool: nsys
title: Fifteen pointwise operations, fifteen kernels
planted: each kernel reads and writes the whole tensor
cure: one Triton kernel for the chain
expect: [launch/elementwise-chain]
wrong: precision only; launch overhead (kernels are long)
"""

import torch

try:
    import triton
    import triton.language as tl

    @triton.jit
    def chain(source, target, count, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        y = tl.load(source + i, mask=i < count)
        for _ in tl.static_range(5):
            y = tl.maximum(y * 1.01, 0.0) + 0.1
        tl.store(target + i, y, mask=i < count)
except ImportError:
    triton = None


def make(device):
    x = torch.randn(1 << 25, device=device)
    out = torch.empty_like(x)

    def unfused():
        y = x
        for _ in range(5):
            y = torch.clamp_min(y * 1.01, 0.0) + 0.1
        return y

    def fused():
        chain[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)

    return lambda step: unfused(), lambda step: fused()
