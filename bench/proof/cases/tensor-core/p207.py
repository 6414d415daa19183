"""
id: P207
tool: nsys
title: Matrix product from a tutorial
planted: a Triton product with small tiles and no pipeline, where the library has one
cure: torch.matmul
expect: [tensor-core/own-matrix-kernel]
wrong: precision; launch overhead
"""

import torch

try:
    import triton
    import triton.language as tl

    @triton.jit
    def matmul_kernel(a, b, c, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
        rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
        cols = tl.program_id(1) * TILE + tl.arange(0, TILE)
        depth = tl.arange(0, DEPTH)
        total = tl.zeros((TILE, TILE), dtype=tl.float32)
        for k in range(0, K, DEPTH):
            left = tl.load(a + rows[:, None] * K + (k + depth)[None, :])
            right = tl.load(b + (k + depth)[:, None] * N + cols[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * N + cols[None, :], total.to(tl.float16))
except ImportError:
    triton = None

SIZE = 4096


def make(device):
    a = torch.randn(SIZE, SIZE, device=device).half()
    b = torch.randn(SIZE, SIZE, device=device).half()
    out = torch.empty_like(a)
    grid = (SIZE // 64, SIZE // 64)

    def own(number):
        matmul_kernel[grid](a, b, out, SIZE, SIZE, SIZE, 64, 32, num_warps=4, num_stages=1)

    return own, lambda number: torch.matmul(a, b, out=out)
