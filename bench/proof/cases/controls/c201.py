"""
id: C201
tool: nsys
title: Products of large aligned BF16 matrices
wrong: everything
"""

import torch


def make(device):
    a = torch.randn(6144, 8192, device=device).bfloat16()
    b = torch.randn(8192, 4096, device=device).bfloat16()

    def step(number):
        for _ in range(6):
            out = a @ b
        return out

    return step
