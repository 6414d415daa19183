"""
id: P46
tool: nsys
title: Loss checked on the host in every step
planted: isnan, isinf and item of the loss, each waits for the GPU
cure: the check kept on the device, read once in a hundred steps
expect: [sync/frequent-synchronization, idle/synchronization-gaps]
remains: {idle/launch-bound: "twelve launches for 0.2 ms of work, on the host in 0.3 ms; P117 measures what a graph brings"}
wrong: precision; copies
"""

import torch


def make(device):
    x = torch.randn(2048, 2048, device=device).bfloat16()
    weights = [(torch.randn(2048, 2048, device=device) / 45).bfloat16() for _ in range(6)]
    bad_values = torch.zeros((), device=device, dtype=torch.bool)

    def loss():
        y = x
        for w in weights:
            y = torch.relu(y @ w)
        return y.float().square().mean()

    def checking():
        for _ in range(4):
            value = loss()
            if torch.isnan(value) or torch.isinf(value):
                raise ValueError
            value.item()

    def keeping():
        for _ in range(4):
            bad_values.logical_or_(torch.isfinite(loss()).logical_not_())

    return lambda step: checking(), lambda step: keeping()
