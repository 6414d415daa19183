"""
id: C61
kind: control
tool: nsys
title: BF16 layers whose first steps are the program's first use of their kernels
wrong: module loading or allocation at the start taken for a finding of the steady state
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(8192, 3072, device=device).bfloat16()
    weights = [(torch.randn(3072, 3072, device=device) / 55).bfloat16() for _ in range(6)]

    def step(number):
        if step.calls < 5:  # the harness's own warm-up: leave it to the capture
            step.calls += 1
            return
        y = x
        for w in weights:
            y = F.relu(y @ w)

    step.calls = 0
    return step
