"""
id: P48
tool: nsys
title: Gradient scaler around BF16 training
planted: unscaling and inf checks over all gradients, and a host synchronization, that BF16 does not need
cure: no scaler
expect: [precision/grad-scaler-without-fp16]
remains: {launch/elementwise-chain: the optimizer's and the activations' passes, precision/cast-kernels: BF16 autocast with FP32 master weights converts them in each step}
wrong: more precision; matrix precision
"""

import torch


def make(device):
    def trainer(scaled):
        model = torch.nn.Sequential(
            *[layer for _ in range(3) for layer in (torch.nn.Linear(8192, 8192), torch.nn.ReLU())]
        ).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        scaler = torch.amp.GradScaler(device.type, enabled=scaled)
        x = torch.randn(4096, 8192, device=device)

        def step(number):
            with torch.autocast(device.type, dtype=torch.bfloat16):
                loss = model(x).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)

        return step

    return trainer(True), trainer(False)
