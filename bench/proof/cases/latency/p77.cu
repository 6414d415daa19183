/*
id: P77
tool: ncu
title: Four lists followed one after another
planted: each warp waits for one load at a time although four are independent
cure: the four lists followed together
expect: [latency/stall-long-scoreboard]
wrong: DRAM bandwidth; coalescing; occupancy as the first thing to change
*/
#include "../../harness/chase.cuh"

static uint32_t* rows;
static float* out;
constexpr int HOPS = 12, LISTS = 4, BLOCK = 256, GRID = SMS * 40, BYTES = 44 << 10;

static __global__ void work_a(const uint32_t* rows, float* out) {
    extern __shared__ float scratch[];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float total = 0.f;
    for (int list = 0; list < LISTS; ++list) {
        uint32_t row = first_row(i / 32 * LISTS + list);
#pragma unroll 1
        for (int k = 0; k < HOPS; ++k) total += hop(rows, row);
    }
    scratch[threadIdx.x] = total;
    out[i] = scratch[threadIdx.x];
}

static __global__ void work_b(const uint32_t* rows, float* out) {
    extern __shared__ float scratch[];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float total = 0.f;
    uint32_t row[LISTS];
#pragma unroll
    for (int list = 0; list < LISTS; ++list) row[list] = first_row(i / 32 * LISTS + list);
#pragma unroll 1
    for (int k = 0; k < HOPS; ++k) {
        uint32_t value[LISTS];
#pragma unroll
        for (int list = 0; list < LISTS; ++list) value[list] = rows[size_t(row[list]) * 32 + (threadIdx.x & 31)];
#pragma unroll
        for (int list = 0; list < LISTS; ++list) {
            row[list] = __shfl_sync(~0u, value[list], 0);
            total += value[list] * (1.f / ROWS);
        }
    }
    scratch[threadIdx.x] = total;
    out[i] = scratch[threadIdx.x];
}

static void prepare() {
    rows = chase_rows();
    out = device_floats(GRID * BLOCK);
    compare(out, GRID * BLOCK);
    CHECK(cudaFuncSetAttribute(work_a, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
    CHECK(cudaFuncSetAttribute(work_b, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
}

static Register one({"P77", prepare, [] { work_a<<<GRID, BLOCK, BYTES>>>(rows, out); },
                     [] { work_b<<<GRID, BLOCK, BYTES>>>(rows, out); }});
