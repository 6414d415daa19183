"""
id: P07
tool: nsys
title: Up-casts before normalization and softmax
planted: .float() and .bfloat16() around operations that compute in FP32 inside anyway
cure: the operations on BF16 tensors
expect: [precision/cast-before-fp32-op, precision/cast-kernels, precision/cast-ping-pong]
wrong: matrix precision; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(16384, 4096, device=device).bfloat16()
    w, b = torch.ones(4096, device=device), torch.zeros(4096, device=device)
    low_w, low_b = w.bfloat16(), b.bfloat16()

    def converting():
        y = F.layer_norm(x.float(), (4096,), w, b).bfloat16()
        return F.softmax(y.float(), dim=-1).bfloat16()

    def direct():
        return F.softmax(F.layer_norm(x, (4096,), low_w, low_b), dim=-1)

    return lambda step: converting(), lambda step: direct()
