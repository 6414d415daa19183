/*
id: P26
tool: ncu
title: Blocks of one warp
planted: 32 blocks per SM is the limit, so half of the warps an SM could hold
cure: blocks of 256 threads
expect: [occupancy/low-theoretical-occupancy]
remains: {latency/stall-long-scoreboard: "each warp still follows one list at a time; P77 measures what several bring"}
wrong: registers or shared memory as the limit
*/
#include "../../harness/chase.cuh"

static uint32_t* rows;
static float* out;
constexpr int HOPS = 24, THREADS = SMS * 2048 * 4;

static __global__ void work_a(const uint32_t* rows, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t row = first_row(i / 32);
    float total = 0.f;
    for (int k = 0; k < HOPS; ++k) total += hop(rows, row);
    out[i] = total;
}

static Register one({"P26", [] { rows = chase_rows(); out = device_floats(THREADS); compare(out, THREADS); },
                     [] { work_a<<<THREADS / 32, 32>>>(rows, out); },
                     [] { work_a<<<THREADS / 256, 256>>>(rows, out); }});
