"""
id: P201
tool: nsys
title: Debug variable left set in the environment
planted: CUDA_LAUNCH_BLOCKING=1, so that every launch waits for its kernel
cure: the variable is not set
env: CUDA_LAUNCH_BLOCKING=1
expect: [sync/blocking-launches]
remains: {idle/launch-bound: the kernels of the twelve small layers take a quarter of the unprofiled step}
wrong: precision; larger batches; CUDA graphs
wrong_rules: ["precision/*", "tensor-core/*"]
"""

import torch
import torch.nn.functional as F

WIDTH, LAYERS = 1024, 12


def make(device):
    x = torch.randn(512, WIDTH, device=device).bfloat16()
    weights = [(torch.randn(WIDTH, WIDTH, device=device) / 32).bfloat16() for _ in range(LAYERS)]
    gains = [torch.ones(WIDTH, device=device).bfloat16() for _ in range(LAYERS)]

    def step(number):
        y = x
        for w, g in zip(weights, gains, strict=True):
            y = y + F.gelu(F.layer_norm(y, (WIDTH,), g) @ w)
        return y

    return step, step
