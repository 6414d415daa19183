/*
id: C01
kind: control
tool: ncu
title: Sum of 512 MB, four loads in flight, shuffles
wrong: barrier stalls; occupancy; any saving
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 27, BLOCK = 512, GRID = SMS * 4;

static __global__ void __launch_bounds__(BLOCK, 4) work(const float4* in, float* out) {
    float total = 0.f;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N / 4; i += GRID * BLOCK * 4)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            if (int k = i + j * GRID * BLOCK; k < N / 4) total += in[k].x + in[k].y + in[k].z + in[k].w;
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(~0u, total, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, total);
}

static Register one({"C01", [] { in = device_floats(N); out = device_floats(32); }, nullptr,
                     [] { work<<<GRID, BLOCK>>>(reinterpret_cast<float4*>(in), out); }});
