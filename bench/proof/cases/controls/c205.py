"""
id: C205
tool: nsys
title: Batches copied from pinned memory beside the computation
wrong: copies; everything
"""

import torch


def make(device):
    host = [torch.randn(4096, 4096).bfloat16().pin_memory() for _ in range(2)]
    slots = [torch.empty(4096, 4096, device=device, dtype=torch.bfloat16) for _ in range(2)]
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(6)]
    side = torch.cuda.Stream()

    def step(number):
        now, following = slots[number % 2], slots[(number + 1) % 2]
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side):
            following.copy_(host[number % 2], non_blocking=True)
        y = now
        for w in weights:
            y = y @ w
        main.wait_stream(side)
        return y

    return step
