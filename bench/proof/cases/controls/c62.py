"""
id: C62
kind: control
tool: nsys
title: FP16 and BF16 products by turns, without conversions
wrong: switching between types as a cost of its own
"""

import torch


def make(device):
    half = [torch.randn(4096, 4096, device=device).half() / 64 for _ in range(2)]
    brain = [torch.randn(4096, 4096, device=device).bfloat16() / 64 for _ in range(2)]

    def step(number):
        for _ in range(8):
            half[0] @ half[1]
            brain[0] @ brain[1]

    return step
