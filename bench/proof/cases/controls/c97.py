"""
id: C97
kind: control
tool: nsys
title: FP16 autocast training with a scaler, large layers, fused optimizer
wrong: the scaler (FP16 needs it); the casts of master weights
"""

import torch


def make(device):
    model = torch.nn.Sequential(
        *[layer for _ in range(3) for layer in (torch.nn.Linear(4096, 4096), torch.nn.ReLU(inplace=True))]
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    scaler = torch.amp.GradScaler(device.type)
    x = torch.randn(32768, 4096, device=device).half()

    def step(number):
        with torch.autocast(device.type, dtype=torch.float16):
            loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return step
