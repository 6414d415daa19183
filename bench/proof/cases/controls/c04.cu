/*
id: C04
kind: control
tool: ncu
title: Histogram with private bins, one pass over 512 MB
wrong: atomics; bank conflicts with a saving above 5 %
*/
#include "../../harness/kernels.cuh"

static uint32_t *in, *bins;
constexpr int N = 1 << 27, BINS = 256, BLOCK = 256, GRID = SMS * 8;

static __global__ void __launch_bounds__(BLOCK, 8) work(const uint4* in, uint32_t* bins) {
    __shared__ uint32_t own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N / 4; i += GRID * BLOCK) {
        uint4 v = in[i];
        atomicAdd(&own[(v.x ^ v.y ^ v.z ^ v.w) % BINS], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

static Register one({"C04", [] { in = device_ints(N, ~0u); bins = device_ints(BINS, 1); }, nullptr,
                     [] { work<<<GRID, BLOCK>>>(reinterpret_cast<uint4*>(in), bins); }});
