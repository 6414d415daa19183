"""
id: P208
tool: nsys
title: Column statistics by one program per 512 columns
planted: eight blocks walk 65536 rows, so that 124 of 132 SMs have no work
cure: rows split over 128 programs per column group
expect: [occupancy/few-blocks]
wrong: precision; launch overhead
"""

import torch

try:
    import triton
    import triton.language as tl

    @triton.jit
    def column_stats(source, target, ROWS, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
        cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        first = tl.program_id(1) * ROWS
        for row in range(first, first + ROWS):
            total += tl.load(source + row.to(tl.int64) * COLUMNS + cols)
        tl.store(target + tl.program_id(1) * COLUMNS + cols, total)
except ImportError:
    triton = None

ROWS, COLUMNS = 65536, 4096


def make(device):
    x = torch.randn(ROWS, COLUMNS, device=device)
    whole = torch.empty(1, COLUMNS, device=device)
    parts = torch.empty(128, COLUMNS, device=device)

    def few(number):
        column_stats[(COLUMNS // 512, 1)](x, whole, ROWS, COLUMNS, 512)
        return whole[0]

    def many(number):
        column_stats[(COLUMNS // 512, 128)](x, parts, ROWS // 128, COLUMNS, 512)
        return parts.sum(0)

    return few, many
