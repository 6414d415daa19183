"""
id: P93
tool: nsys
title: TF32 layers that tolerate BF16
planted: large matrix products in TF32, half the 16-bit rate and twice the bytes
cure: BF16 weights and activations
expect: [tensor-core/tf32-where-16bit-fits]
wrong: FP32 on CUDA cores; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(8192, 4096, device=device)
    weights = [torch.randn(4096, 4096, device=device) / 64 for _ in range(3)]
    half = [w.bfloat16() for w in weights]
    low = x.bfloat16()

    def forward(y, layers):
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        for w in layers:
            y = F.relu(y @ w)
        return y

    return lambda step: forward(x, weights), lambda step: forward(low, half)
