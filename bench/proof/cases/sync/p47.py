"""
id: P47
tool: nsys
title: torch.cuda.synchronize after every layer
planted: timing code left in the model
cure: no synchronization inside the step
expect: [sync/frequent-synchronization]
remains: {launch/tiny-kernels: layers of 1024 are short, launch/host-bound: layers of 1024 are short, tensor-core/small-matrix-kernels: layers of 1024 are short}
wrong: precision; fusion
"""

import torch


def make(device):
    x = torch.randn(1024, 1024, device=device).bfloat16()
    weights = [(torch.randn(1024, 1024, device=device) / 32).bfloat16() for _ in range(16)]

    def forward(wait):
        y = x
        for w in weights:
            y = torch.relu(y @ w)
            if wait and device.type == "cuda":
                torch.cuda.synchronize()
        return y

    return lambda step: forward(True), lambda step: forward(False)
