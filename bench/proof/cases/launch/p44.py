"""
id: P44
tool: nsys
title: Hundreds of tiny operations per step
planted: the host launches slower than the GPU works
cure: a CUDA graph
expect: [launch/tiny-kernels, idle/launch-bound]
wrong: precision; fusion into fewer bytes
"""

import torch


def make(device):
    x = torch.randn(4096, device=device)

    def run():
        y = x
        for _ in range(400):
            y = y + 0.001
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
