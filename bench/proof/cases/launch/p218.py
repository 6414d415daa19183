"""
id: P218
tool: nsys
title: Recurrent cell written in Python
planted: nine small kernels for each of 64 time steps, launched slower than they run
cure: a CUDA graph
expect: [idle/launch-bound, launch/tiny-kernels]
wrong: precision; fewer bytes
"""

import torch

WIDTH, TIME = 256, 64


def make(device):
    xs = torch.randn(TIME, 64, WIDTH, device=device).bfloat16()
    into = (torch.randn(WIDTH, 4 * WIDTH, device=device) / 16).bfloat16()
    again = (torch.randn(WIDTH, 4 * WIDTH, device=device) / 16).bfloat16()
    zero = torch.zeros(64, WIDTH, device=device).bfloat16()

    def run():
        hidden, cell = zero, zero
        for x in xs:
            i, f, g, o = torch.addmm(x @ into, hidden, again).chunk(4, 1)
            cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
            hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden

    if device.type != "cuda":
        return lambda number: run(), lambda number: run()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return lambda number: run(), lambda number: graph.replay()
