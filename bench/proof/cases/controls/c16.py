"""
id: C16
kind: control
tool: ncu
title: BF16 matrix times vector
wrong: low Tensor Core use; the kernel streams the matrix at the DRAM roof
"""

import torch


def make(device):
    a, x = torch.randn(16384, 16384, device=device).bfloat16(), torch.randn(16384, device=device).bfloat16()
    return lambda step: torch.mv(a, x)
