/*
id: P225
tool: ncu
title: Energies summed per atom kind
planted: 2^24 threads add to sixteen addresses in global memory
cure: sums per block in shared memory first
expect: [memory/atomic-contention]
wrong: coalescing; occupancy
*/
#include "../../harness/kernels.cuh"

static uint32_t* kinds;
static float *energies, *sums;
constexpr int N = 1 << 24, KINDS = 16;

static __global__ void add_global(const uint32_t* kinds, const float* energies, float* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[kinds[i]], energies[i]);
}

static __global__ void add_shared(const uint32_t* kinds, const float* energies, float* sums) {
    __shared__ float mine[8][KINDS];
    for (int k = threadIdx.x; k < 8 * KINDS; k += blockDim.x) mine[k / KINDS][k % KINDS] = 0.f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[threadIdx.x / 32][kinds[i]], energies[i]);
    __syncthreads();
    if (threadIdx.x < KINDS) {
        float total = 0.f;
        for (int k = 0; k < 8; ++k) total += mine[k][threadIdx.x];
        atomicAdd(&sums[threadIdx.x], total);
    }
}

static Register one({"P225",
                     [] { kinds = device_ints(N, KINDS); energies = device_floats(N); sums = device_floats(KINDS); },
                     [] { add_global<<<N / 256, 256>>>(kinds, energies, sums); },
                     [] { add_shared<<<SMS * 8, 256>>>(kinds, energies, sums); }});
