"""
id: P47
tool: nsys
title: torch.cuda.synchronize after every layer
planted: timing code left in the model
cure: no synchronization inside the step
expect: [sync/frequent-synchronization, idle/synchronization-gaps]
wrong: precision; fusion
"""

import torch


def make(device):
    x = torch.randn(2048, 3072, device=device).bfloat16()
    weights = [(torch.randn(3072, 3072, device=device) / 55).bfloat16() for _ in range(16)]

    def forward(wait):
        y = x
        for w in weights:
            y = torch.relu(y @ w)
            if wait and device.type == "cuda":
                torch.cuda.synchronize()
        return y

    return lambda step: forward(True), lambda step: forward(False)
