"""
id: C96
kind: control
tool: nsys
title: BF16 inference of large layers
wrong: precision; launch overhead; fusion above 5 %
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(16384, 4096, device=device).bfloat16()
    pairs = [
        ((torch.randn(8192, 4096, device=device) / 64).bfloat16(), (torch.randn(4096, 8192, device=device) / 90).bfloat16())
        for _ in range(3)
    ]

    def step(number):
        y = x
        for up, down in pairs:
            y = F.linear(F.relu_(F.linear(y, up)), down)

    return step
