"""
id: C64
kind: control
tool: ncu
title: BF16 product of 8192 x 8192 x 8192
wrong: low IPC; low occupancy; stalls; the kernel is near the Tensor Core roof
"""

import torch


def make(device):
    a, b = (torch.randn(8192, 8192, device=device).bfloat16() for _ in range(2))
    return lambda step: a @ b
