"""
id: P209
tool: nsys
title: Eight requests decoded one after another
planted: every weight is read from memory once per request
cure: the eight requests as one batch
expect: [memory/matrix-vector-products]
wrong: precision of the products; Tensor Cores
"""

import torch

WIDTH, LAYERS, REQUESTS = 8192, 4, 8


def make(device):
    x = torch.randn(REQUESTS, WIDTH, device=device).bfloat16()
    weights = [(torch.randn(WIDTH, WIDTH, device=device) / 90).bfloat16() for _ in range(LAYERS)]

    def forward(y):
        for w in weights:
            y = torch.nn.functional.linear(y, w)
        return y

    def single(number):
        return [forward(x[i : i + 1]) for i in range(REQUESTS)]

    return single, lambda number: forward(x)
