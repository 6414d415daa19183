"""
id: P90
tool: ncu
title: Triton product with tiles of 16 x 16
planted: tiles too small for the tensor pipe; loads and address arithmetic take the time
cure: tiles of 128 x 128 x 64, eight warps
expect: [tensor-core/low-tensor-utilization, memory/l1-low-hit-high-traffic]
wrong: precision; DRAM
remains: {tensor-core/low-tensor-utilization: an untuned Triton kernel is still below cuBLAS}
"""

import torch

try:
    import triton
    import triton.language as tl

    @triton.jit
    def product(a, b, c, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        rows = tl.program_id(0) * BM + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        inner = tl.arange(0, BK)
        left = a + rows[:, None] * N + inner[None, :]
        right = b + inner[:, None] * N + columns[None, :]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(0, N, BK):
            total = tl.dot(tl.load(left), tl.load(right), total)
            left += BK
            right += BK * N
        tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))
except ImportError:
    triton = None

SIZE = 4096


def make(device):
    a, b = (torch.randn(SIZE, SIZE, device=device).bfloat16() for _ in range(2))
    c = torch.empty_like(a)

    def run(tile, depth, warps, stages):
        grid = (SIZE // tile, SIZE // tile)
        product[grid](a, b, c, SIZE, tile, tile, depth, num_warps=warps, num_stages=stages)

    return lambda step: run(16, 16, 1, 2), lambda step: run(128, 64, 8, 3)
