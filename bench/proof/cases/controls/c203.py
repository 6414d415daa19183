"""
id: C203
tool: nsys
title: BF16 attention block on cuDNN's attention
wrong: everything
"""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BATCH, LENGTH, HEADS, DEPTH = 4, 4096, 32, 128
WIDTH = HEADS * DEPTH


def make(device):
    x = torch.randn(BATCH, LENGTH, WIDTH, device=device).bfloat16()
    qkv = (torch.randn(3 * WIDTH, WIDTH, device=device) / 64).bfloat16()
    out = (torch.randn(WIDTH, WIDTH, device=device) / 64).bfloat16()

    @torch.inference_mode()
    def step(number):
        q, k, v = F.linear(x, qkv).view(BATCH, LENGTH, 3, HEADS, DEPTH).permute(2, 0, 3, 1, 4)
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]):
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.linear(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH), out)

    return step
