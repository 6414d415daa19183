"""
id: P49
tool: nsys
title: Batches copied from pageable memory
planted: 64 MB per step from a plain tensor, staged by the driver and blocking
cure: pinned memory and non_blocking, on a stream of its own
expect: [transfer/pageable-copies]
wrong: smaller batches; precision
"""

import torch


def make(device):
    plain = torch.randn(4096, 4096)
    weight = (torch.randn(4096, 4096, device=device) / 64).bfloat16()

    def work(batch):
        y = batch.bfloat16()
        for _ in range(8):
            y = y @ weight
        return y

    if device.type != "cuda":
        return lambda step: work(plain.to(device)), lambda step: work(plain.to(device))
    pinned = plain.pin_memory()
    stream, main = torch.cuda.Stream(), torch.cuda.current_stream()
    slots = [torch.empty(4096, 4096, device=device) for _ in range(2)]
    copied, used = [torch.cuda.Event() for _ in range(2)], [torch.cuda.Event() for _ in range(2)]

    def fetch(slot):
        with torch.cuda.stream(stream):
            stream.wait_event(used[slot])
            slots[slot].copy_(pinned, non_blocking=True)
            copied[slot].record(stream)

    for slot in range(2):
        used[slot].record(main)
    fetch(0)

    def overlapped(step):
        slot = overlapped.turn
        fetch(1 - slot)
        main.wait_event(copied[slot])
        work(slots[slot])
        used[slot].record(main)
        overlapped.turn = 1 - slot

    overlapped.turn = 0
    return lambda step: work(plain.to(device)), overlapped
