/*
id: P38
tool: ncu
title: Powers by the general function
planted: powf for an exponent of 1.5 costs dozens of instructions and special functions per value
cure: x times its square root
expect: [latency/special-function-bound]
wrong: DRAM bandwidth; occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 23, ROUNDS = 24;

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < ROUNDS; ++k) x = powf(x, 1.5f) * 0.5f + 0.4f;
    out[i] = x;
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < ROUNDS; ++k) x = x * sqrtf(x) * 0.5f + 0.4f;
    out[i] = x;
}

static Register one({"P38", [] { in = device_floats(N); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / 256, 256>>>(in, out); }, [] { work_b<<<N / 256, 256>>>(in, out); }});
