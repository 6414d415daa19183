/*
id: P80
tool: ncu
title: Long dependent chains, one warp per scheduler
planted: 100 KB of shared memory per block of 64 threads leave four warps per SM, and each instruction needs the one before
cure: the shared memory the block uses, so that many warps share a scheduler
expect: [occupancy/low-theoretical-occupancy, latency/stall-wait]
wrong: memory; divergence
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int BLOCK = 64, GRID = SMS * 32, ROUNDS = 1024;

static __global__ void work_a(float* out) {
    extern __shared__ float scratch[];
    float x = threadIdx.x * 1e-3f;
    for (int k = 0; k < ROUNDS; ++k) x = fmaf(x, 0.99f, 0.01f);
    scratch[threadIdx.x] = x;
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x ^ 1];
}

static void launch(int kilobytes) {
    CHECK(cudaFuncSetAttribute(work_a, cudaFuncAttributeMaxDynamicSharedMemorySize, kilobytes << 10));
    work_a<<<GRID, BLOCK, kilobytes << 10>>>(out);
}

static Register one({"P80", [] { out = device_floats(GRID * BLOCK); compare(out, GRID * BLOCK); },
                     [] { launch(100); }, [] { launch(4); }});
