"""
id: P45
tool: nsys
title: AdamW parameter by parameter
planted: about ten kernels for each of 120 tensors
cure: fused=True
expect: [launch/per-parameter-optimizer, idle/optimizer-launches]
wrong: precision; gradient scaling
"""

import torch


def make(device):
    def optimizer(**how):
        params = [torch.nn.Parameter(torch.randn(512, 512, device=device)) for _ in range(120)]
        for p in params:
            p.grad = torch.randn_like(p)
        adam = torch.optim.AdamW(params, lr=1e-4, **how)
        return lambda step: adam.step()

    return optimizer(foreach=False, fused=False), optimizer(fused=True)
