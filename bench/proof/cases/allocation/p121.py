"""
id: P121
tool: nsys
title: A workspace allocated and freed around every layer
planted: cudaMalloc and cudaFree in the loop; cudaFree waits for the GPU
cure: one workspace for all layers
expect: [allocation/allocation-calls-in-loop, idle/allocation-gaps]
wrong: precision; smaller batches
"""

import ctypes
from pathlib import Path

import torch


def make(device):
    x = torch.randn(2048, 4096, device=device).bfloat16()
    weights = [(torch.randn(4096, 4096, device=device) / 64).bfloat16() for _ in range(12)]
    if device.type != "cuda":
        return lambda step: None, lambda step: None
    maps = Path("/proc/self/maps").read_text().split()
    runtime = ctypes.CDLL(next(path for path in maps if "libcudart.so" in path))
    pointer = ctypes.c_void_p()

    def forward(allocating):
        y = x
        for w in weights:
            if allocating:
                runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(64 << 20))
            y = y @ w
            if allocating:
                runtime.cudaFree(pointer)
        return y

    return lambda step: forward(True), lambda step: forward(False)
