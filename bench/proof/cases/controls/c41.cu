/*
id: C41
kind: control
tool: ncu
title: Copy of 512 MB, 16 bytes per thread
wrong: any saving; the copy is at the DRAM roof
*/
#include "../../harness/kernels.cuh"

static float4 *in, *out;
constexpr int N = 1 << 25;

static __global__ void work(const float4* in, float4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

static Register one({"C41",
                     [] {
                         in = reinterpret_cast<float4*>(device_floats(4ull * N));
                         out = reinterpret_cast<float4*>(device_floats(4ull * N));
                     },
                     nullptr, [] { work<<<N / 512, 512>>>(in, out); }});
