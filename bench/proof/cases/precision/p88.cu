/*
id: P88
tool: ncu
title: Float to integer and back in every step
planted: conversions run at an eighth of the rate of arithmetic and fill their pipe
cure: the rounding done in float arithmetic
expect: [precision/conversion-instructions]
wrong: memory; FP64
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 22, ROUNDS = 64;

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i] * 1000.f;
    for (int k = 0; k < ROUNDS; ++k) {
        int n = __float2int_rn(x);
        x = fmaf(x - __int2float_rn(n), 1.5f, 700.f - 0.1f * x);
    }
    out[i] = x;
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i] * 1000.f;
    for (int k = 0; k < ROUNDS; ++k) {
        float n = __fsub_rn(__fadd_rn(x, 12582912.f), 12582912.f);  // 1.5 * 2^23: rounds to the nearest integer
        x = fmaf(x - n, 1.5f, 700.f - 0.1f * x);
    }
    out[i] = x;
}

static Register one({"P88", [] { in = device_floats(N); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / 256, 256>>>(in, out); }, [] { work_b<<<N / 256, 256>>>(in, out); }});
