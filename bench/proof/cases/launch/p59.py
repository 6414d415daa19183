"""
id: P59
tool: nsys
title: Recurrent cells of a small batch in FP16
planted: sequential small kernels, bound by launches; precision changes nothing
cure: a CUDA graph of the sequence
expect: [launch/tiny-kernels, idle/launch-bound]
wrong: lower precision; larger tiles
wrong_rules: [tensor-core/tf32*, tensor-core/fp32*]
"""

import torch


def make(device):
    cell = torch.nn.LSTMCell(256, 256).to(device).half()
    xs = torch.randn(48, 8, 256, device=device).half()
    zero = torch.zeros(8, 256, device=device).half()

    def run():
        with torch.no_grad():
            h, c = zero, zero
            for x in xs:
                h, c = cell(x, (h, c))
            return h

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
