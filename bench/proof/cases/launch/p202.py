"""
id: P202
tool: nsys
title: AdamW as PyTorch makes it by default
planted: each operation of the update passes over all parameters and moments once
cure: fused=True
expect: [launch/foreach-optimizer]
remains: {idle/launch-bound: with 256 rows the kernels take less than half of the unprofiled step}
wrong: precision; launch overhead; CUDA graphs
"""

import torch

WIDTH, LAYERS, ROWS = 2560, 16, 256


def make(device):
    def model(fused):
        torch.manual_seed(1)
        layers = [torch.nn.Linear(WIDTH, WIDTH, device=device, dtype=torch.bfloat16) for _ in range(LAYERS)]
        net = torch.nn.Sequential(*layers)
        x = torch.randn(ROWS, WIDTH, device=device).bfloat16()
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, **({"fused": True} if fused else {}))

        def step(number):
            optimizer.zero_grad(set_to_none=True)
            net(x).square().mean().backward()
            optimizer.step()

        return step

    return model(False), model(True)
