/*
id: P36
tool: ncu
title: Constants without the f suffix
planted: double literals pull FP32 arithmetic through conversions into the FP64 pipe
cure: float literals
expect: [precision/fp64-arithmetic]
wrong: memory; occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 22, ROUNDS = 64;

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < ROUNDS; ++k) x = x * 0.314159 + 1.0;
    out[i] = x;
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < ROUNDS; ++k) x = x * 0.314159f + 1.0f;
    out[i] = x;
}

static Register one({"P36", [] { in = device_floats(N); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / 256, 256>>>(in, out); }, [] { work_b<<<N / 256, 256>>>(in, out); }});
