/*
id: P25
tool: ncu
title: 200 KB of shared memory for a block of 64 threads
planted: one block of two warps per SM; the latency of dependent loads is not hidden
cure: 16 KB, which is all the block uses
expect: [occupancy/low-theoretical-occupancy]
wrong: more registers; coalescing
*/
#include "../../harness/chase.cuh"

static uint32_t* rows;
static float* out;
constexpr int HOPS = 24, GRID = SMS * 12, BLOCK = 64;

static __global__ void work_a(const uint32_t* rows, float* out) {
    extern __shared__ float scratch[];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    uint32_t row = first_row(i / 32);
    float total = 0.f;
    for (int k = 0; k < HOPS; ++k) {
        scratch[k * BLOCK + threadIdx.x] = hop(rows, row);
        total += scratch[k * BLOCK + (threadIdx.x ^ 1)];
    }
    out[i] = total;
}

static void launch(int kilobytes) {
    CHECK(cudaFuncSetAttribute(work_a, cudaFuncAttributeMaxDynamicSharedMemorySize, kilobytes << 10));
    work_a<<<GRID, BLOCK, kilobytes << 10>>>(rows, out);
}

static Register one({"P25", [] { rows = chase_rows(); out = device_floats(GRID * BLOCK); compare(out, GRID * BLOCK); },
                     [] { launch(200); }, [] { launch(16); }});
