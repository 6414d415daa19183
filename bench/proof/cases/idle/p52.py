"""
id: P52
tool: nsys
title: Batches prepared by the training loop itself
planted: the GPU waits while the host prepares each batch for 4 ms, marked by an NVTX range
cure: a thread prepares the next batches meanwhile
expect: [idle/data-loading]
wrong: precision; launch overhead; copies
"""

import queue
import threading
import time

import torch


def make(device):
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(32)]
    batches = [torch.randn(4096, 4096, device=device).bfloat16() for _ in range(2)]

    def load(number):
        time.sleep(0.004)
        return batches[number % 2]

    def work(fetch):
        if device.type == "cuda":
            torch.cuda.nvtx.range_push("load batch")
        y = fetch()
        if device.type == "cuda":
            torch.cuda.nvtx.range_pop()
        for w in weights:
            y = y @ w
        if device.type == "cuda":
            torch.cuda.current_stream().synchronize()

    ready = queue.Queue(maxsize=4)

    def produce():
        number = 0
        while True:
            ready.put(load(number))
            number += 1

    threading.Thread(target=produce, daemon=True).start()
    return lambda step: work(lambda: load(step)), lambda step: work(ready.get)
