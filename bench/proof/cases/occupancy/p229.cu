/*
id: P229
tool: ncu
title: Reduction with 24 blocks
planted: 108 of 132 SMs have no block
cure: eight blocks per SM
expect: [occupancy/small-grid]
wrong: coalescing; precision
*/
#include "../../harness/kernels.cuh"

static float *values, *sums;
constexpr int N = 1 << 26;

static __global__ void total_of(const float4* values, float* sums) {
    float total = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N / 4; i += gridDim.x * blockDim.x) {
        float4 four = values[i];
        total += four.x + four.y + four.z + four.w;
    }
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(~0u, total, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sums, total);
}

static Register one({"P229",
                     [] { values = device_floats(N); sums = device_floats(1); },
                     [] { total_of<<<24, 512>>>(reinterpret_cast<float4*>(values), sums); },
                     [] { total_of<<<SMS * 8, 256>>>(reinterpret_cast<float4*>(values), sums); }});
