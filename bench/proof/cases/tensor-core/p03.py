"""
id: P03
tool: nsys
title: Convolutions with TF32 switched off
planted: cuDNN convolutions in FP32 on CUDA cores
cure: the default, TF32 allowed
expect: [tensor-core/fp32-matrix-on-cuda-cores]
remedy: tf32
remains: {tensor-core/tf32-where-16bit-fits: the step from TF32 to 16 bits pays as well, precision/layout-conversion: NCHW convolutions on Tensor Cores convert their layout, case P19}
wrong: launch overhead; elementwise fusion first
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(128, 128, 28, 28, device=device)
    weights = [torch.randn(128, 128, 3, 3, device=device) / 34 for _ in range(4)]

    def forward(precision):
        torch.backends.cudnn.conv.fp32_precision = precision
        y = x
        for w in weights:
            y = F.relu(F.conv2d(y, w, padding=1))
        return y

    return lambda step: forward("ieee"), lambda step: forward("tf32")
