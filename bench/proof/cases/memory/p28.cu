/*
id: P28
tool: ncu
title: 64 running values under a limit of 32 registers
planted: __launch_bounds__(1024, 2) leaves 32 registers; the state spills to local memory
cure: bounds that fit the state
expect: [memory/local-memory-traffic]
wrong: more occupancy (it is full); coalescing
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int STATE = 56, ROUNDS = 128, THREADS = SMS * 2048;

static __device__ float iterate(const float* in, int i) {
    float state[STATE];
#pragma unroll
    for (int j = 0; j < STATE; ++j) state[j] = in[i] + j;
    for (int round = 0; round < ROUNDS; ++round)
#pragma unroll
        for (int j = 0; j < STATE; ++j) state[j] = fmaf(state[j], 0.51f, 0.49f * state[(j + 17) % STATE]);
    float total = 0.f;
#pragma unroll
    for (int j = 0; j < STATE; ++j) total += state[j];
    return total;
}

static __global__ void __launch_bounds__(1024, 2) work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = iterate(in, i);
}

static __global__ void __launch_bounds__(256) work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = iterate(in, i);
}

static Register one({"P28", [] { in = device_floats(THREADS); out = device_floats(THREADS); compare(out, THREADS); },
                     [] { work_a<<<THREADS / 1024, 1024>>>(in, out); },
                     [] { work_b<<<THREADS / 256, 256>>>(in, out); }});
