/*
id: P35
tool: ncu
title: Counting into eight global bins
planted: 16 million atomic additions to eight addresses queue up in L2
cure: bins in shared memory, one addition per block and bin
expect: [memory/atomic-contention]
remains: {latency/stall-long-scoreboard: "one load of four bytes per thread in flight; C04 is the same histogram with 16-byte loads, at the DRAM roof"}
wrong: coalescing; occupancy
*/
#include "../../harness/kernels.cuh"

static uint32_t* in;
static float* bins;
constexpr int N = 1 << 24, BINS = 8, BLOCK = 256;

static __global__ void work_a(const uint32_t* in, float* bins) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    atomicAdd(&bins[in[i] % BINS], 1.f);
}

static __global__ void work_b(const uint32_t* in, float* bins) {
    __shared__ uint32_t own[BLOCK / 32][BINS];
    if (threadIdx.x < BLOCK / 32 * BINS) own[threadIdx.x / BINS][threadIdx.x % BINS] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK)
        atomicAdd(&own[threadIdx.x / 32][in[i] % BINS], 1u);
    __syncthreads();
    if (threadIdx.x < BINS) {
        uint32_t total = 0;
        for (int w = 0; w < BLOCK / 32; ++w) total += own[w][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], float(total));
    }
}

static void clear() { CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof(float))); }

static Register one({"P35", [] { in = device_ints(N, 1u << 31); bins = device_floats(BINS); compare(bins, BINS); },
                     [] { clear(); work_a<<<N / BLOCK, BLOCK>>>(in, bins); },
                     [] { clear(); work_b<<<SMS * 8, BLOCK>>>(in, bins); }});
