"""
id: P117
tool: nsys
title: Decoding one token at a time through 24 small layers
planted: kernels of a few microseconds, launched one by one; the GPU waits for the host
cure: a CUDA graph of the step
expect: [launch/tiny-kernels, idle/launch-bound, tensor-core/small-matrix-kernels]
wrong: precision; batched products (they depend on each other)
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(1, 1024, device=device).bfloat16()
    layers = [
        ((torch.randn(1024, 1024, device=device) / 32).bfloat16(), torch.ones(1024, device=device).bfloat16())
        for _ in range(24)
    ]

    def run():
        y = x
        for weight, scale in layers:
            y = y + F.silu(F.linear(F.rms_norm(y, (1024,), scale), weight))
        return y

    if device.type != "cuda":
        return lambda step: run(), lambda step: run()
    graph = captured(run)
    return lambda step: run(), lambda step: graph.replay()


def captured(run):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph
