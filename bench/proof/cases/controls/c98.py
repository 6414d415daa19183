"""
id: C98
kind: control
tool: nsys
title: Pinned batches copied while the GPU computes
wrong: pageable copies; copies as a bottleneck (they are hidden)
"""

import torch


def make(device):
    plain = torch.randn(2048, 4096)
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(16)]

    def work(batch):
        y = batch.bfloat16()
        for w in weights:
            y = y @ w

    if device.type != "cuda":
        return lambda step: work(plain.to(device))
    pinned = plain.pin_memory()
    stream, main = torch.cuda.Stream(), torch.cuda.current_stream()
    slots = [torch.empty(2048, 4096, device=device) for _ in range(2)]
    copied, used = [torch.cuda.Event() for _ in range(2)], [torch.cuda.Event() for _ in range(2)]
    state = {"turn": 0}

    def fetch(slot):
        with torch.cuda.stream(stream):
            stream.wait_event(used[slot])
            slots[slot].copy_(pinned, non_blocking=True)
            copied[slot].record(stream)

    def step(number):
        slot = state["turn"]
        fetch(1 - slot)
        main.wait_event(copied[slot])
        work(slots[slot])
        used[slot].record(main)
        state["turn"] = 1 - slot

    for event in used:
        event.record(main)
    fetch(0)
    return step
