/*
id: P105
tool: ncu
title: Rotations with a sine and a cosine in every step
planted: two special functions per step fill the special-function pipe
cure: the rotation by recurrence, multiply-adds only
expect: [latency/special-function-bound]
wrong: DRAM bandwidth; occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 22, STEPS = 64;

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float angle = in[i], x = 0.f, y = 0.f;
#pragma unroll 8
    for (int k = 0; k < STEPS; ++k) x += __cosf(angle), y += __sinf(angle), angle += 0.03f;
    out[i] = x + y;
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float c = __cosf(in[i]), s = __sinf(in[i]), x = 0.f, y = 0.f;
#pragma unroll 8
    for (int k = 0; k < STEPS; ++k) {
        x += c, y += s;
        float next = fmaf(c, 0.99955003f, -0.0299955f * s);
        s = fmaf(s, 0.99955003f, 0.0299955f * c);
        c = next;
    }
    out[i] = x + y;
}

static Register one({"P105", [] { in = device_floats(N); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / 256, 256>>>(in, out); }, [] { work_b<<<N / 256, 256>>>(in, out); }});
