/*
id: C03
kind: control
tool: ncu
title: Double literal in a copy bound by DRAM
wrong: FP64 arithmetic with a saving; the DRAM hides it
*/
#include "../../harness/kernels.cuh"

static float4 *in, *out;
constexpr int N = 1 << 25;

static __global__ void work(const float4* in, float4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(v.x * 3.14159, v.y, v.z, v.w);
}

static Register one({"C03",
                     [] {
                         in = reinterpret_cast<float4*>(device_floats(4ull * N));
                         out = reinterpret_cast<float4*>(device_floats(4ull * N));
                     },
                     nullptr, [] { work<<<N / 256, 256>>>(in, out); }});
