/*
id: P43
tool: ncu
title: One warp per SM follows links
planted: 132 warps on the whole GPU, each waiting for one load at a time
cure: the same number of loads by 64 times as many warps
expect: [occupancy/small-grid, latency/stall-long-scoreboard]
wrong: coalescing; caches
*/
#include "../../harness/chase.cuh"

static uint32_t* rows;
static float* out;
constexpr int HOPS = 2048;

static __global__ void work_a(const uint32_t* rows, float* out, int hops) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t row = first_row(i / 32);
    float total = 0.f;
    for (int k = 0; k < hops; ++k) total += hop(rows, row);
    out[i] = total;
}

static Register one({"P43", [] { rows = chase_rows(); out = device_floats(SMS * 2048); },
                     [] { work_a<<<SMS, 32>>>(rows, out, HOPS); },
                     [] { work_a<<<SMS * 2, 1024>>>(rows, out, HOPS / 64); }});
