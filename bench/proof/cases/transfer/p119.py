"""
id: P119
tool: nsys
title: A weight kept on the host and uploaded for every use
planted: 128 MB of the same constant cross the bus in every step
cure: the weight kept on the device
expect: [transfer/host-device-traffic, transfer/pageable-copies]
wrong: precision; batch size only
"""

import torch


def make(device):
    x = torch.randn(4096, 8192, device=device).bfloat16()
    weight = (torch.randn(8192, 8192) / 90).bfloat16()
    if device.type == "cuda":
        weight = weight.pin_memory()
    kept = weight.to(device)
    return lambda step: x @ weight.to(device, non_blocking=True), lambda step: x @ kept
