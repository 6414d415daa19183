"""
id: P120
tool: nsys
title: A host that computes between steps
planted: the host waits for the GPU, then works 4 ms that no range names, then launches the next step
cure: the host's work done by a thread meanwhile
expect: [idle/unexplained, idle/data-loading, idle/synchronization-gaps]
wrong: precision; launch overhead; copies
"""

import queue
import threading
import time

import torch


def make(device):
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(32)]
    x = torch.randn(4096, 4096, device=device).bfloat16()

    def host():
        time.sleep(0.004)
        return x

    def work(y):
        for w in weights:
            y = y @ w
        if device.type == "cuda":
            torch.cuda.current_stream().synchronize()

    ready = queue.Queue(maxsize=4)

    def produce():
        while True:
            ready.put(host())

    threading.Thread(target=produce, daemon=True).start()
    return lambda step: work(host()), lambda step: work(ready.get())
