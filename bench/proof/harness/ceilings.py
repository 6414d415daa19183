"""Measured ceilings of the device: copy bandwidth and matrix products per type, random data, as one JSON object."""

import json
import statistics
import sys

import torch

SIZE = 8192


def median_ms(run, repeats=10):
    """Median time of ``run`` on the device in ms, after three calls."""
    for _ in range(3):
        run()
    times = []
    for _ in range(repeats):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def main():
    result = {}
    source = torch.randn(1 << 30, device="cuda")
    target = torch.empty_like(source)
    result["copy_bytes_per_second"] = 2 * source.nbytes / median_ms(lambda: target.copy_(source)) * 1e3
    del source, target
    a, b = torch.randn(SIZE, SIZE, device="cuda"), torch.randn(SIZE, SIZE, device="cuda")
    flops = 2 * SIZE**3

    def product(name, left, right):
        result[f"{name}_flops"] = flops / median_ms(lambda: left @ right) * 1e3

    for name, precision in (("fp32", "ieee"), ("tf32", "tf32")):
        torch.backends.cuda.matmul.fp32_precision = precision
        product(name, a, b)
    product("bf16", a.bfloat16(), b.bfloat16())
    product("fp16", a.half(), b.half())
    product("fp64", a.double(), b.double())
    low, right, one = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn).t(), torch.ones((), device="cuda")

    def fp8():
        torch._scaled_mm(low, right, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    result["fp8_flops"] = flops / median_ms(fp8) * 1e3
    with open(sys.argv[1], "w") as out:
        json.dump(result, out)


if __name__ == "__main__":
    main()
