"""
id: P50
tool: nsys
title: Three hundred copies of 4 KB
planted: a list of small pinned tensors uploaded one by one
cure: one copy of the packed tensor
expect: [transfer/small-copies]
wrong: pinned memory (it is pinned); bandwidth
"""

import torch


def make(device):
    packed = torch.randn(300, 1024)
    if device.type == "cuda":
        packed = packed.pin_memory()
    parts = list(packed.unbind())
    target = torch.empty(300, 1024, device=device)
    slots = list(target.unbind())
    x = torch.randn(4096, 4096, device=device).bfloat16()

    def one_by_one():
        for slot, part in zip(slots, parts, strict=True):
            slot.copy_(part, non_blocking=True)
        return (x @ x @ x) * target.sum().bfloat16()

    def together():
        target.copy_(packed, non_blocking=True)
        return (x @ x @ x) * target.sum().bfloat16()

    return lambda step: one_by_one(), lambda step: together()
