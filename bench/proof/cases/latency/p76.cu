/*
id: P76
tool: ncu
title: Rows summed by a tree with a barrier per level
planted: ten barriers per row of 1024 floats, most threads idle between them
cure: one warp per row, summed with shuffles, no barrier
expect: [latency/stall-barrier]
wrong: bank conflicts; coalescing
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int BLOCK = 1024, ROWS = 1 << 15, GRID = SMS * 2;

static __global__ void work_a(const float* in, float* out) {
    __shared__ float data[BLOCK];
    int t = threadIdx.x;
    for (int row = blockIdx.x; row < ROWS; row += GRID) {
        data[t] = in[row * BLOCK + t];
        __syncthreads();
        for (int step = BLOCK / 2; step; step /= 2) {
            if (t < step) data[t] += data[t + step];
            __syncthreads();
        }
        if (t == 0) out[row] = data[0];
        __syncthreads();
    }
}

static __global__ void work_b(const float* in, float* out) {
    int lane = threadIdx.x & 31, warp = (blockIdx.x * BLOCK + threadIdx.x) / 32;
    for (int row = warp; row < ROWS; row += GRID * BLOCK / 32) {
        float total = 0.f;
#pragma unroll 8
        for (int x = lane; x < BLOCK; x += 32) total += in[row * BLOCK + x];
        for (int step = 16; step; step /= 2) total += __shfl_down_sync(~0u, total, step);
        if (lane == 0) out[row] = total;
    }
}

static Register one({"P76", [] { in = device_floats(size_t(ROWS) * BLOCK); out = device_floats(ROWS); compare(out, ROWS); },
                     [] { work_a<<<GRID, BLOCK>>>(in, out); }, [] { work_b<<<GRID, BLOCK>>>(in, out); }});
