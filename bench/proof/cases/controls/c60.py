"""
id: C60
kind: control
tool: nsys
title: BF16 transformer block, fused attention, fused optimizer
wrong: casts; precision; attention; optimizer; launch overhead
"""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """Pre-norm block with fused attention."""

    def __init__(self, dim):
        super().__init__()
        self.first, self.second = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.up, self.down = nn.Linear(dim, 4 * dim, bias=False), nn.Linear(4 * dim, dim, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.first(x)).view(b, t, 3, d // 128, 128).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.second(x))))


def make(device):
    model = nn.Sequential(*[Block(2048) for _ in range(2)]).to(device, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    x = torch.randn(8, 2048, 2048, device=device).bfloat16()

    def step(number):
        model(x).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step
