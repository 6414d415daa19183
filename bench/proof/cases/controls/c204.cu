/*
id: C204
tool: ncu
title: Scaled sum of two arrays in 16-byte accesses
wrong: everything
*/
#include "../../harness/kernels.cuh"

static float4 *x, *y;
constexpr int N = 1 << 25;

static __global__ void axpy(const float4* x, float4* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = x[i], b = y[i];
    y[i] = make_float4(fmaf(2.f, a.x, b.x), fmaf(2.f, a.y, b.y), fmaf(2.f, a.z, b.z), fmaf(2.f, a.w, b.w));
}

static Register one({"C204",
                     [] {
                         x = reinterpret_cast<float4*>(device_floats(4ull * N));
                         y = reinterpret_cast<float4*>(device_floats(4ull * N));
                     },
                     nullptr, [] { axpy<<<N / 256, 256>>>(x, y); }});
