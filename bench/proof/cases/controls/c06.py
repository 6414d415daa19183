"""
id: C06
kind: control
tool: ncu
title: Triton softmax over rows of 4096
wrong: barrier stalls; occupancy; any saving above 5 %
"""

import torch

try:
    import triton
    import triton.language as tl

    @triton.jit
    def row_softmax(source, target, COLUMNS: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
        y = tl.load(source + at)
        y = tl.exp(y - tl.max(y, axis=0))
        tl.store(target + at, y / tl.sum(y, axis=0))
except ImportError:
    triton = None


def make(device):
    x = torch.randn(32768, 4096, device=device)
    out = torch.empty_like(x)
    return lambda step: row_softmax[(32768,)](x, out, COLUMNS=4096, num_warps=8)
