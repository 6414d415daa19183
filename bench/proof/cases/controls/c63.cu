/*
id: C63
kind: control
tool: ncu
title: saxpy over 3 x 256 MB
wrong: tensor cores ("used" or "idle"); any saving
*/
#include "../../harness/kernels.cuh"

static float *x, *y;
constexpr int N = 1 << 26;

static __global__ void work(const float4* x, float4* y, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 u = x[i], v = y[i];
    y[i] = make_float4(fmaf(a, u.x, v.x), fmaf(a, u.y, v.y), fmaf(a, u.z, v.z), fmaf(a, u.w, v.w));
}

static Register one({"C63", [] { x = device_floats(N); y = device_floats(N); }, nullptr, [] {
                         work<<<N / 4 / 256, 256>>>(reinterpret_cast<float4*>(x), reinterpret_cast<float4*>(y), 0.5f);
                     }});
