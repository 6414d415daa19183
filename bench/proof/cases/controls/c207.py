"""
id: C207
tool: nsys
title: Training step with fused AdamW, library normalization and BF16 products
wrong: launch overhead; casts; everything
"""

import torch

WIDTH, ROWS = 4096, 8192


def make(device):
    torch.manual_seed(2)
    options = {"device": device, "dtype": torch.bfloat16}
    layers = [
        torch.nn.Sequential(torch.nn.LayerNorm(WIDTH, **options), torch.nn.Linear(WIDTH, WIDTH, **options))
        for _ in range(3)
    ]
    net = torch.nn.Sequential(*layers)
    x = torch.randn(ROWS, WIDTH, device=device).bfloat16()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)

    def step(number):
        optimizer.zero_grad(set_to_none=True)
        net(x).mean().backward()
        optimizer.step()

    return step
