"""
id: P06
tool: nsys
title: Autocast entered anew for every micro-batch
planted: FP32 weights are converted again for each of eight small micro-batches
cure: weights kept in BF16
expect: [precision/cast-kernels, precision/repeated-weight-casts]
wrong: batch size only; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    parts = [torch.randn(512, 8192, device=device) for _ in range(8)]
    low = [p.bfloat16() for p in parts]
    weights = [torch.nn.Parameter(torch.randn(8192, 8192, device=device) / 90) for _ in range(2)]
    half = [w.detach().bfloat16() for w in weights]

    def layers(y, ws):
        for w in ws:
            y = F.relu(F.linear(y, w))
        return y

    def autocast():
        with torch.no_grad():
            for part in parts:
                with torch.autocast(device.type, dtype=torch.bfloat16):
                    layers(part, weights)

    def direct():
        for part in low:
            layers(part, half)

    return lambda step: autocast(), lambda step: direct()
