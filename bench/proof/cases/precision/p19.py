"""
id: P19
tool: nsys
title: BF16 convolutions on NCHW tensors
planted: Tensor Core convolutions want NHWC, so cuDNN converts the layout before and after each
cure: channels_last
expect: [precision/layout-conversion]
wrong: precision; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    x = torch.randn(128, 128, 28, 28, device=device).bfloat16()
    weights = [(torch.randn(128, 128, 3, 3, device=device) / 34).bfloat16() for _ in range(4)]

    def stack(layout):
        y0 = x.contiguous(memory_format=layout)
        ws = [w.contiguous(memory_format=layout) for w in weights]

        def step(number):
            y = y0
            for w in ws:
                y = F.relu(F.conv2d(y, w, padding=1))
            return y

        return step

    return stack(torch.contiguous_format), stack(torch.channels_last)
