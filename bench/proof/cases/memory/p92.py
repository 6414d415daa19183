"""
id: P92
tool: ncu
title: Triton kernel that walks a matrix along the wrong axis
planted: a program takes one column at a time, so lanes are 16 KB apart
cure: a program takes a piece of a row
expect: [memory/uncoalesced-global-access]
wrong: occupancy; precision
"""

import torch

try:
    import triton
    import triton.language as tl

    @triton.jit
    def scale(source, target, STRIDE: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr):
        at = tl.program_id(0) * STEP + tl.program_id(1) * BLOCK * STRIDE + tl.arange(0, BLOCK) * STRIDE
        tl.store(target + at, tl.load(source + at) * 2.0)
except ImportError:
    triton = None

SIZE = 4096


def make(device):
    x = torch.randn(SIZE, SIZE, device=device)
    out = torch.empty_like(x)
    grid = (SIZE, SIZE // 1024)

    def run(stride, step):
        scale[grid](x, out, stride, step, 1024)

    return lambda step: run(SIZE, 1), lambda step: run(1, SIZE)
