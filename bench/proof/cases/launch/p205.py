"""
id: P205
tool: nsys
title: Loss over a vocabulary of 128256
planted: log-softmax, loss and their gradients each read and write the whole table of logits
cure: one kernel that computes loss and gradient of a row in place
expect: [launch/unfused-cross-entropy]
wrong: launch overhead; layout
"""

import torch
import torch.nn.functional as F

try:
    import triton
    import triton.language as tl

    @triton.jit
    def row_loss(logits, targets, losses, COLUMNS: tl.constexpr, SCALE: tl.constexpr, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        start = logits + row * COLUMNS
        target = tl.load(targets + row)
        top = float("-inf")
        total = 0.0
        for at in range(0, COLUMNS, BLOCK):
            cols = at + tl.arange(0, BLOCK)
            x = tl.load(start + cols, cols < COLUMNS, float("-inf")).to(tl.float32)
            higher = tl.maximum(top, tl.max(x, 0))
            total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), 0)
            top = higher
        tl.store(losses + row, tl.log(total) + top - tl.load(start + target).to(tl.float32))
        for at in range(0, COLUMNS, BLOCK):
            cols = at + tl.arange(0, BLOCK)
            x = tl.load(start + cols, cols < COLUMNS, float("-inf")).to(tl.float32)
            grad = (tl.exp(x - top) / total - tl.where(cols == target, 1.0, 0.0)) * SCALE
            tl.store(start + cols, grad.to(tl.bfloat16), cols < COLUMNS)
except ImportError:
    triton = None

ROWS, WIDTH, WORDS = 4096, 512, 128256


def make(device):
    hidden = torch.randn(ROWS, WIDTH, device=device).bfloat16().requires_grad_()
    head = (torch.randn(WORDS, WIDTH, device=device) / 22).bfloat16().requires_grad_()
    targets = torch.randint(WORDS, (ROWS,), device=device)
    losses = torch.empty(ROWS, device=device)

    def library(number):
        loss = F.cross_entropy(hidden @ head.t(), targets)
        return torch.autograd.grad(loss, (hidden, head))

    @torch.no_grad()
    def together(number):
        logits = hidden @ head.t()
        row_loss[(ROWS,)](logits, targets, losses, WORDS, 1.0 / ROWS, 8192, num_warps=16)
        return logits @ head, logits.t() @ hidden

    return library, together
