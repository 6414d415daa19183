"""
id: P116
tool: nsys
title: GELU written out
planted: eight passes over the activations of each layer instead of one
cure: torch.nn.functional.gelu
expect: [launch/elementwise-chain]
wrong: matrix precision; casts
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(8192, 4096, device=device).bfloat16()
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(3)]

    def written_out(y):
        return 0.5 * y * (1.0 + torch.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))

    def forward(act):
        y = x
        for w in weights:
            y = act(y @ w)
        return y

    return lambda step: forward(written_out), lambda step: forward(lambda y: F.gelu(y, approximate="tanh"))
