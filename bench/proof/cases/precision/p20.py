"""
id: P20
tool: nsys
title: A weight transposed in memory before each product
planted: .t().contiguous() moves 128 MB per step
cure: the transposed view, which the product reads as it is
expect: [precision/layout-conversion]
wrong: precision; batch size
"""

import torch


def make(device):
    x = torch.randn(512, 8192, device=device).bfloat16()
    weight = (torch.randn(8192, 8192, device=device) / 90).bfloat16()
    return lambda step: x @ weight.t().contiguous(), lambda step: x @ weight.t()
