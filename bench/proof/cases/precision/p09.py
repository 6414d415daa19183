"""
id: P09
tool: nsys
title: FP16 weights beside BF16 activations
planted: the weights are converted in every step, because one product needs one type
cure: weights stored in BF16
expect: [precision/cast-kernels]
wrong: misalignment; batch size
"""

import torch


def make(device):
    x = torch.randn(512, 8192, device=device).bfloat16()
    weight = (torch.randn(8192, 8192, device=device) / 90).half()
    same = weight.bfloat16()
    return lambda step: x @ weight.bfloat16(), lambda step: x @ same
