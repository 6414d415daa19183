"""
id: P51
tool: nsys
title: Activations fetched to the host in every step
planted: 64 MB go back over the bus although only their mean is used
cure: the mean computed on the device
expect: [transfer/host-device-traffic]
wrong: precision; launch overhead
"""

import torch


def make(device):
    x = torch.randn(8192, 4096, device=device).bfloat16()
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(4)]
    host = torch.empty(8192, 4096, dtype=torch.bfloat16)
    if device.type == "cuda":
        host = host.pin_memory()

    def forward(fetch):
        y = x
        for w in weights:
            y = torch.relu(y @ w)
        if fetch:
            host.copy_(y, non_blocking=True)
        else:
            y.mean(dtype=torch.float32)

    return lambda step: forward(True), lambda step: forward(False)
