/*
id: P31
tool: ncu
title: Eight blocks sum 256 MB
planted: 124 of 132 SMs have no block
cure: 1056 blocks
expect: [occupancy/small-grid]
wrong: coalescing; DRAM bandwidth
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 26, BLOCK = 1024;

static __global__ void work_a(const float* in, float* out) {
    float total = 0.f;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) total += in[i];
    out[blockIdx.x * BLOCK + threadIdx.x] = total;
}

static Register one({"P31", [] { in = device_floats(N); out = device_floats(SMS * 2 * BLOCK); },
                     [] { work_a<<<8, BLOCK>>>(in, out); }, [] { work_a<<<SMS * 2, BLOCK>>>(in, out); }});
