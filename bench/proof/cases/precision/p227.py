"""
id: P227
tool: nsys
title: FP16 segmentation network on NCHW tensors
planted: convolution and its gradient convert the layout around every Tensor Core kernel
cure: channels_last
expect: [precision/layout-conversion]
wrong: casts; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(32, 64, 128, 128, device=device).half()
    shapes = [(128, 64), (128, 128), (64, 128)]
    weights = [(torch.randn(*shape, 3, 3, device=device) / 30).half() for shape in shapes]

    def train(layout):
        y0 = x.contiguous(memory_format=layout)
        ws = [w.contiguous(memory_format=layout).requires_grad_() for w in weights]

        def step(number):
            y = y0
            for w in ws:
                y = F.relu(F.conv2d(y, w, padding=1))
            return torch.autograd.grad(y.mean(), ws)

        return step

    return train(torch.contiguous_format), train(torch.channels_last)
