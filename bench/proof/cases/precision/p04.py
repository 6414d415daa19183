"""
id: P04
tool: nsys
title: Elementwise layers that change precision every time
planted: each layer converts to FP32 and back
cure: the layers in BF16
expect: [precision/cast-kernels, precision/cast-ping-pong]
remains: {launch/elementwise-chain: four multiplications in a row could still be fused, case P18}
wrong: matrix precision; launch overhead
"""

import torch


def make(device):
    x = torch.randn(1 << 26, device=device).bfloat16()

    def converting():
        y = x
        for factor in (1.01, 0.99, 1.02, 0.98):
            y = (y.float() * factor).bfloat16()
        return y

    def staying():
        y = x
        for factor in (1.01, 0.99, 1.02, 0.98):
            y = y * factor
        return y

    return lambda step: converting(), lambda step: staying()
