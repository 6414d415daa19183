"""
id: C202
tool: nsys
title: Inference step of BF16 layers replayed as a CUDA graph
wrong: launch overhead; everything
"""

import torch
import torch.nn.functional as F

WIDTH = 4096


def make(device):
    x = torch.randn(4096, WIDTH, device=device).bfloat16()
    weights = [(torch.randn(WIDTH, WIDTH, device=device) / 64).bfloat16() for _ in range(6)]

    def run():
        y = x
        for w in weights:
            y = F.relu(F.linear(y, w))
        return y

    if device.type != "cuda":
        return lambda number: run()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return lambda number: graph.replay()
