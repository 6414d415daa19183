"""
id: P91
tool: ncu
title: Triton elementwise kernel with 32 elements per program
planted: half a million programs of one warp and one load each; launch and address work outweigh the data
cure: 1024 elements per program, four warps
expect: [occupancy/low-theoretical-occupancy, latency/stall-long-scoreboard, occupancy/low-achieved-occupancy]
wrong: coalescing; precision
"""

import torch

try:
    import triton
    import triton.language as tl

    @triton.jit
    def scale(source, target, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + at, tl.load(source + at) * 2.0 + 1.0)
except ImportError:
    triton = None

COUNT = 1 << 24


def make(device):
    x = torch.randn(COUNT, device=device)
    out = torch.empty_like(x)
    return (
        lambda step: scale[(COUNT // 32,)](x, out, 32, num_warps=1),
        lambda step: scale[(COUNT // 1024,)](x, out, 1024, num_warps=4),
    )
