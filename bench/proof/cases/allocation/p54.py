"""
id: P54
tool: nsys
title: Cache emptied in every step
planted: torch.cuda.empty_cache gives memory back to the driver, which must map it again
cure: no empty_cache
expect: [allocation/allocation-calls-in-loop, idle/allocation-gaps]
wrong: precision; smaller batches
"""

import torch


def make(device):
    x = torch.randn(2048, 2048, device=device).bfloat16()
    weights = [(torch.randn(2048, 2048 + 512 * i, device=device) / 45).bfloat16() for i in range(12)]

    def forward(empty):
        held = [torch.relu(x @ w) for w in weights]
        del held
        if empty and device.type == "cuda":
            torch.cuda.empty_cache()

    return lambda step: forward(True), lambda step: forward(False)
