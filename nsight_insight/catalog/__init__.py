"""Knowledge as data: metrics, kernels, GPUs, and the loaders for them."""
