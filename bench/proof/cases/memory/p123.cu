/*
id: P123
tool: ncu
title: Every thread adds to one total
planted: a million atomic additions to a single address are done one after another
cure: sums in the warp and the block, one addition per block
expect: [memory/atomic-contention]
remains: {memory/atomic-contention: "16384 blocks still add to one address, at the 1.8 ns per addition that the bad program shows: all of the 31 us"}
wrong: coalescing; occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *total;
constexpr int N = 1 << 22, BLOCK = 256;

static __global__ void work_a(const float* in, float* total) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float value = in[i];
    if (value > 0.75f) atomicAdd(total, value * value);
}

static __global__ void work_b(const float* in, float* total) {
    __shared__ float warps[BLOCK / 32];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float value = in[i];
    value = value > 0.75f ? value * value : 0.f;
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; ++w) value += warps[w];
        atomicAdd(total, value);
    }
}

static void clear() { CHECK(cudaMemsetAsync(total, 0, sizeof(float))); }

static Register one({"P123", [] { in = device_floats(N); total = device_floats(1); compare(total, 1); },
                     [] { clear(); work_a<<<N / BLOCK, BLOCK>>>(in, total); },
                     [] { clear(); work_b<<<N / BLOCK, BLOCK>>>(in, total); }});
