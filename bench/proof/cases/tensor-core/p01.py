"""
id: P01
tool: nsys
title: FP32 layers of a perceptron, TF32 allowed in the cure
planted: matrix products run in FP32 on CUDA cores, PyTorch's default
cure: torch.backends.cuda.matmul.fp32_precision = "tf32"
expect: [tensor-core/fp32-matrix-on-cuda-cores]
remedy: tf32
remains: {tensor-core/tf32-where-16bit-fits: the step from TF32 to BF16 pays as well, case P93}
wrong: elementwise fusion as the first step; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(4096, 2048, device=device)
    up, down = torch.randn(2048, 8192, device=device) / 45, torch.randn(8192, 2048, device=device) / 90

    def forward(precision):
        torch.backends.cuda.matmul.fp32_precision = precision
        return F.gelu(x @ up) @ down

    return lambda step: forward("ieee"), lambda step: forward("tf32")
