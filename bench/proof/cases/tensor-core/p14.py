"""
id: P14
tool: nsys
title: Language model head with 50257 columns
planted: an odd vocabulary size misaligns every row of the logits
cure: 50304 columns
expect: [tensor-core/misaligned-operands, tensor-core/legacy-tensor-path]
wrong: precision; launch overhead
"""

import torch


def make(device):
    x = torch.randn(4096, 1024, device=device).bfloat16()

    def head(size):
        weight = (torch.randn(1024, size, device=device) / 32).bfloat16()
        return lambda step: x @ weight

    return head(50257), head(50304)
