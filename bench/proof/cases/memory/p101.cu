/*
id: P101
tool: ncu
title: One thread sums one row
planted: lanes walk 32 rows at once, 4 KB apart; every load touches 32 sectors
cure: one warp per row
expect: [memory/uncoalesced-global-access]
wrong: "bound by the latency of loads" as the cause; L2 size
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int ROWS = 1 << 17, COLUMNS = 1024;

static __global__ void work_a(const float* in, float* out) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.f;
    for (int x = 0; x < COLUMNS; ++x) total += in[size_t(row) * COLUMNS + x];
    out[row] = total;
}

static __global__ void work_b(const float* in, float* out) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    float total = 0.f;
    for (int x = lane; x < COLUMNS; x += 32) total += in[size_t(row) * COLUMNS + x];
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(~0u, total, step);
    if (lane == 0) out[row] = total;
}

static Register one({"P101",
                     [] { in = device_floats(size_t(ROWS) * COLUMNS); out = device_floats(ROWS); compare(out, ROWS); },
                     [] { work_a<<<ROWS / 256, 256>>>(in, out); }, [] { work_b<<<ROWS / 8, 256>>>(in, out); }});
