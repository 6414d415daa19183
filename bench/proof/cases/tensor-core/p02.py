"""
id: P02
tool: nsys
title: FP32 layers of a perceptron, BF16 in the cure
planted: matrix products run in FP32 on CUDA cores
cure: weights and activations in BF16
expect: [tensor-core/fp32-matrix-on-cuda-cores]
remedy: autocast-bf16
wrong: elementwise fusion as the first step; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    x = torch.randn(8192, 1024, device=device)
    weights = [torch.randn(1024, 1024, device=device) / 32 for _ in range(8)]
    half = [w.bfloat16() for w in weights]
    low = x.bfloat16()

    def forward(y, layers):
        for w in layers:
            y = F.relu(y @ w)
        return y

    return lambda step: forward(x, weights), lambda step: forward(low, half)
