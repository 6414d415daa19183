"""
id: P217
tool: nsys
title: Loss printed and gradients checked for NaN in every micro-step
planted: .item() and .any() on the host drain the queue after each of 16 micro-steps
cure: results stay on the device until the end of the step
expect: [sync/frequent-synchronization, idle/synchronization-gaps]
remains: {idle/launch-bound: the kernels take less than half of the unprofiled step}
wrong: precision; larger batches
"""

import torch

WIDTH = 1024


def make(device):
    x = torch.randn(512, WIDTH, device=device).bfloat16()
    weights = [(torch.randn(WIDTH, WIDTH, device=device) / 32).bfloat16() for _ in range(6)]

    def micro():
        y = x
        for w in weights:
            y = torch.tanh(y @ w)
        return y.float().square().mean(), torch.isnan(y).any()

    def watched(number):
        log = []
        for _ in range(16):
            loss, broken = micro()
            if bool(broken):
                raise RuntimeError("not a number")
            log.append(loss.item())
        return log

    def kept(number):
        return torch.stack([micro()[0] for _ in range(16)])

    return watched, kept
