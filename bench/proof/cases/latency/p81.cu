/*
id: P81
tool: ncu
title: A quarter megabyte of generated code, run in a different order by every warp
planted: 64 straight segments of 256 steps do not fit into the instruction caches, and warps are in different ones
cure: one loop that computes the coefficients
expect: [latency/stall-no-instruction]
wrong: occupancy; memory latency; math pipes
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int BLOCK = 128, GRID = SMS * 16, SEGMENTS = 64;

#define S1(k) x = fmaf(x, 0.5f + 3.0517578125e-5f * (k), 1e-3f);
#define S4(k) S1(k) S1(k + 1) S1(k + 2) S1(k + 3)
#define S16(k) S4(k) S4(k + 4) S4(k + 8) S4(k + 12)
#define S64(k) S16(k) S16(k + 16) S16(k + 32) S16(k + 48)
#define SEGMENT(s) case s: { S64(s * 256) S64(s * 256 + 64) S64(s * 256 + 128) S64(s * 256 + 192) } break;
#define SEGMENTS4(s) SEGMENT(s) SEGMENT(s + 1) SEGMENT(s + 2) SEGMENT(s + 3)
#define SEGMENTS16(s) SEGMENTS4(s) SEGMENTS4(s + 4) SEGMENTS4(s + 8) SEGMENTS4(s + 12)

static __device__ int order(int step, int warp) { return (step * 29 + warp * 37) % SEGMENTS; }

static __global__ void work_a(float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x, warp = __shfl_sync(~0u, i / 32, 0);
    float x = i * 1e-6f;
#pragma unroll 1
    for (int step = 0; step < SEGMENTS; ++step) switch (order(step, warp)) {
            SEGMENTS16(0)
            SEGMENTS16(16)
            SEGMENTS16(32)
            SEGMENTS16(48)
        }
    out[i] = x;
}

static __global__ void work_b(float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x, warp = __shfl_sync(~0u, i / 32, 0);
    float x = i * 1e-6f;
#pragma unroll 1
    for (int step = 0; step < SEGMENTS; ++step) {
        float factor = 0.5f + 3.0517578125e-5f * (order(step, warp) * 256);
#pragma unroll 16
        for (int k = 0; k < 256; ++k) x = fmaf(x, factor, 1e-3f), factor += 3.0517578125e-5f;
    }
    out[i] = x;
}

static Register one({"P81", [] { out = device_floats(GRID * BLOCK); compare(out, GRID * BLOCK); },
                     [] { work_a<<<GRID, BLOCK>>>(out); }, [] { work_b<<<GRID, BLOCK>>>(out); }});
