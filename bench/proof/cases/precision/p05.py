"""
id: P05
tool: nsys
title: Activation functions on FP32 islands between BF16 layers
planted: .float() before and .bfloat16() after each activation
cure: the activation on BF16
expect: [precision/cast-ping-pong, precision/cast-kernels]
wrong: matrix precision; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(8192, 4096, device=device).bfloat16()
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(4)]

    def forward(islands):
        y = x
        for w in weights:
            y = y @ w
            y = F.gelu(y.float()).bfloat16() if islands else F.gelu(y)
        return y

    return lambda step: forward(True), lambda step: forward(False)
