/*
id: P104
tool: ncu
title: Exponentials of a softmax, one pass too many
planted: every weight's exponential is computed for each of 16 sums; the special-function pipe is full
cure: computed once, kept in a register
expect: [latency/special-function-bound]
wrong: DRAM bandwidth; occupancy; stalls
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 23, SUMS = 64;

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], total = 0.f;
#pragma unroll 16
    for (int k = 0; k < SUMS; ++k) total += __expf(x), x -= 0.01f;
    out[i] = total;
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float weight = __expf(in[i]), total = 0.f, factor = 1.f;
#pragma unroll 16
    for (int k = 0; k < SUMS; ++k) total = fmaf(weight, factor, total), factor *= 0.99004983f;
    out[i] = total;
}

static Register one({"P104", [] { in = device_floats(N); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / 256, 256>>>(in, out); }, [] { work_b<<<N / 256, 256>>>(in, out); }});
