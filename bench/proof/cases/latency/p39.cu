/*
id: P39
tool: ncu
title: One warp at a time has work between barriers
planted: a barrier after every small piece makes 15 of 16 warps wait for the one that has work
cure: each warp keeps its own pieces and meets the others once
expect: [latency/stall-barrier]
wrong: occupancy; memory latency
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int BLOCK = 512, GRID = SMS * 4, PIECES = 256;

static __device__ float piece(float x, int rounds) {
    float y = 1.f;
    for (int k = 0; k < rounds; ++k) x = fmaf(x, 0.99f, y), y = fmaf(y, 0.5f, 0.1f);
    return x;
}

static __global__ void work_a(float* out) {
    float x = threadIdx.x * 1e-3f;
    int warp = threadIdx.x / 32;
    for (int p = 0; p < PIECES; ++p) {
        x = piece(x, p % 16 == warp ? 64 : 2);
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = x;
}

static __global__ void work_b(float* out) {
    float x = threadIdx.x * 1e-3f;
    int warp = threadIdx.x / 32;
    for (int p = 0; p < PIECES; ++p) x = piece(x, p % 16 == warp ? 64 : 2);
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = x;
}

static Register one({"P39", [] { out = device_floats(GRID * BLOCK); compare(out, GRID * BLOCK); },
                     [] { work_a<<<GRID, BLOCK>>>(out); }, [] { work_b<<<GRID, BLOCK>>>(out); }});
