"""
id: P210
tool: nsys
title: State cloned in every time step
planted: the old state is copied on the device before each update, which could write to a second buffer
cure: two buffers that change places
expect: [transfer/device-copies]
wrong: precision; launch overhead
"""

import torch

COUNT, STEPS = 1 << 26, 6


def make(device):
    state = torch.rand(COUNT, device=device)
    other = torch.empty_like(state)
    flow = torch.rand(COUNT, device=device)

    def cloned(number):
        for _ in range(STEPS):
            old = state.clone()
            torch.add(old, flow, alpha=0.01, out=state)

    def swapped(number):
        one, two = state, other
        for _ in range(STEPS):
            torch.add(one, flow, alpha=0.01, out=two)
            one, two = two, one

    return cloned, swapped
