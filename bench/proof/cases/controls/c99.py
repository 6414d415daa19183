"""
id: C99
kind: control
tool: nsys
title: BF16 convolutions in channels_last
wrong: layout conversion; precision
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(256, 256, 28, 28, device=device).bfloat16().contiguous(memory_format=torch.channels_last)
    weights = [
        (torch.randn(256, 256, 3, 3, device=device) / 48).bfloat16().contiguous(memory_format=torch.channels_last)
        for _ in range(4)
    ]

    def step(number):
        y = x
        for w in weights:
            y = F.relu_(F.conv2d(y, w, padding=1))

    return step
