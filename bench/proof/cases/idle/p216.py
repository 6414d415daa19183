"""
id: P216
tool: nsys
title: DataLoader without workers
planted: the training process itself decodes each sample between two steps
cure: the decoded samples kept on the device
expect: [idle/data-loading, idle/unexplained, idle/host-work]
remains: {idle/launch-bound: the kernels take less than half of the unprofiled step}
wrong: precision; launch overhead; CUDA graphs
wrong_rules: [idle/launch-bound, "precision/*"]
"""

import numpy as np
import torch


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        rows = np.random.default_rng(index).integers(0, 255, (128, 1024), dtype=np.uint8)
        return torch.from_numpy(((rows.astype(np.float32) - 127.0) / 64.0).astype(np.float16))


def make(device):
    weights = [(torch.randn(1024, 1024, device=device) / 32).half() for _ in range(8)]
    loader = iter(torch.utils.data.DataLoader(Samples(), batch_size=16, num_workers=0))
    kept = next(loader).to(device)

    def train(x):
        for _ in range(4):
            for w in weights:
                x = torch.relu(x @ w)
        return x

    def loaded(number):
        return train(next(loader).to(device))

    return loaded, lambda number: train(kept)
