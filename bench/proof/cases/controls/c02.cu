/*
id: C02
kind: control
tool: ncu
title: Independent multiply-adds, the FMA pipe full
wrong: any saving; the kernel is at the FP32 roof
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = SMS * 2048 * 2;

static __global__ void work(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) x[j] = in[i] + j;
    for (int k = 0; k < 1024; ++k)
#pragma unroll
        for (int j = 0; j < 8; ++j) x[j] = fmaf(x[j], 0.99f, 0.01f);
    float total = 0.f;
#pragma unroll
    for (int j = 0; j < 8; ++j) total += x[j];
    out[i] = total;
}

static Register one({"C02", [] { in = device_floats(N); out = device_floats(N); }, nullptr,
                     [] { work<<<N / 256, 256>>>(in, out); }});
