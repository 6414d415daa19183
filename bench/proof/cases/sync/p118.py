"""
id: P118
tool: nsys
title: Gradient norm read on the host, tensor by tensor
planted: .item() for each of 60 gradients; the GPU idles after each
cure: one norm over all on the device
expect: [sync/frequent-synchronization, idle/synchronization-gaps]
wrong: precision; larger copies
"""

import torch


def make(device):
    grads = [torch.randn(8192, 2048, device=device) for _ in range(60)]

    def one_by_one():
        total = 0.0
        for g in grads:
            total += g.norm().item() ** 2
        return total**0.5

    def together():
        return torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads)))

    return lambda step: one_by_one(), lambda step: together()
