"""
id: P37
tool: nsys
title: Matrix products on NumPy's double precision
planted: float64 arrays from NumPy were never converted
cure: float32 with TF32
expect: [tensor-core/fp64-matrix]
remains: {tensor-core/tf32-where-16bit-fits: the step from TF32 to BF16 pays as well, case P93}
wrong: tensor core tuning; fusion
"""

import torch


def make(device):
    a = torch.from_numpy(__import__("numpy").random.default_rng(0).standard_normal((4096, 4096))).to(device)
    b = a.t().contiguous()
    low, right = a.float(), b.float()

    def single():
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        return low @ right

    return lambda step: a @ b, lambda step: single()
