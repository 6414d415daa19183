"""
id: P219
tool: nsys
title: Volume sent to the device and back each step
planted: .to() from ordinary host memory, result fetched with .cpu()
cure: pinned buffers on both sides
expect: [transfer/pageable-copies, transfer/host-device-traffic]
remains: {transfer/host-device-traffic: 128 MB go over the bus in every step and nothing hides them}
wrong: precision; launch overhead
"""

import torch
import torch.nn.functional as F


def make(device):
    volume = torch.randn(1, 1, 256, 256, 256)
    stencil = torch.randn(1, 1, 3, 3, 3, device=device)
    pinned, back = volume.pin_memory(), torch.empty_like(volume, pin_memory=True)

    def ordinary(number):
        return F.conv3d(volume.to(device), stencil, padding=1).cpu()

    def page_locked(number):
        back.copy_(F.conv3d(pinned.to(device, non_blocking=True), stencil, padding=1), non_blocking=True)
        torch.cuda.synchronize()
        return back

    return ordinary, page_locked
