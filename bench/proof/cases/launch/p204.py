"""
id: P204
tool: nsys
title: Image network in evaluation mode
planted: batch normalization runs as a kernel after each convolution although its factors are constants
cure: factors folded into the convolution's weights and bias
expect: [launch/inference-batch-norm]
remains: {launch/elementwise-chain: cuDNN leaves bias and ReLU to two kernels of their own}
wrong: layout; larger batches
"""

import torch
import torch.nn.functional as F

CHANNELS, LAYERS = 128, 6


def make(device):
    last = torch.channels_last
    x = torch.randn(64, CHANNELS, 56, 56, device=device).bfloat16().contiguous(memory_format=last)
    layers = []
    for _ in range(LAYERS):
        conv = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False, device=device, dtype=torch.bfloat16)
        norm = torch.nn.BatchNorm2d(CHANNELS, device=device, dtype=torch.bfloat16)
        torch.nn.init.uniform_(norm.running_var, 0.5, 1.5)
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
        layers.append((conv.to(memory_format=last).eval(), norm.eval()))
    folded = [_fold(conv, norm, last) for conv, norm in layers]

    @torch.inference_mode()
    def separate(number):
        y = x
        for conv, norm in layers:
            y = F.relu(norm(conv(y)))
        return y

    @torch.inference_mode()
    def together(number):
        y = x
        for weight, bias in folded:
            y = F.relu(F.conv2d(y, weight, bias, padding=1))
        return y

    return separate, together


def _fold(conv, norm, last):
    factor = norm.weight.float() / torch.sqrt(norm.running_var.float() + norm.eps)
    weight = (conv.weight.float() * factor[:, None, None, None]).bfloat16()
    bias = (norm.bias.float() - norm.running_mean.float() * factor).bfloat16()
    return weight.detach().contiguous(memory_format=last), bias.detach()
