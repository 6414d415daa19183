/*
id: P73
tool: ncu
title: One warp of each block works longer than the others
planted: the first of eight warps makes most of the dependent loads; the block's other warps have left
cure: the same loads spread over the block's warps
expect: [occupancy/low-achieved-occupancy]
wrong: registers or shared memory as the limit; coalescing
*/
#include "../../harness/chase.cuh"

static uint32_t* rows;
static float* out;
constexpr int BLOCK = 256, GRID = SMS * 32;

static __global__ void work_a(const uint32_t* rows, float* out, int first, int others) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    uint32_t row = first_row(i / 32);
    float total = 0.f;
    int hops = threadIdx.x < 32 ? first : others;
    for (int k = 0; k < hops; ++k) total += hop(rows, row);
    out[i] = total;
}

static Register one({"P73", [] { rows = chase_rows(); out = device_floats(GRID * BLOCK); },
                     [] { work_a<<<GRID, BLOCK>>>(rows, out, 57, 1); },
                     [] { work_a<<<GRID, BLOCK>>>(rows, out, 8, 8); }});
