/*
id: P40
tool: ncu
title: Multiply and add kept apart
planted: rounding intrinsics (or -fmad=false) forbid the fused multiply-add; twice the instructions
cure: fused multiply-add
expect: [latency/non-fused-arithmetic]
wrong: memory; occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 22, ROUNDS = 256;

template <bool FUSED>
static __device__ float step(float x, float a, float b) {
    return FUSED ? fmaf(x, a, b) : __fadd_rn(__fmul_rn(x, a), b);
}

template <bool FUSED>
static __device__ float iterate(float x) {
    float y = x + 1.f, z = x + 2.f, w = x + 3.f;
    for (int k = 0; k < ROUNDS; ++k) {
        x = step<FUSED>(x, 0.99f, 0.01f);
        y = step<FUSED>(y, 0.98f, 0.02f);
        z = step<FUSED>(z, 0.97f, 0.03f);
        w = step<FUSED>(w, 0.96f, 0.04f);
    }
    return x + y + z + w;
}

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = iterate<false>(in[i]);
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = iterate<true>(in[i]);
}

static Register one({"P40", [] { in = device_floats(N); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / 256, 256>>>(in, out); }, [] { work_b<<<N / 256, 256>>>(in, out); }});
