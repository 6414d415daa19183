/*
id: P81
tool: ncu
title: A loop of 16384 steps, unrolled by hand
planted: a quarter megabyte of straight code does not fit into the instruction caches
cure: the loop with its coefficients in constant memory
expect: [latency/stall-no-instruction]
wrong: occupancy; memory latency; math pipes
*/
#include "../../harness/kernels.cuh"

static float* out;
static __constant__ float scale[1024];
constexpr int BLOCK = 128, GRID = SMS * 16, STEPS = 16384;

#define S1(k) x = fmaf(x, 0.5f + 4.8828125e-4f * ((k) % 1024), 1e-3f); 
#define S4(k) S1(k) S1(k + 1) S1(k + 2) S1(k + 3)
#define S16(k) S4(k) S4(k + 4) S4(k + 8) S4(k + 12)
#define S64(k) S16(k) S16(k + 16) S16(k + 32) S16(k + 48)
#define S256(k) S64(k) S64(k + 64) S64(k + 128) S64(k + 192)
#define S1K(k) S256(k) S256(k + 256) S256(k + 512) S256(k + 768)
#define S4K(k) S1K(k) S1K(k + 1024) S1K(k + 2048) S1K(k + 3072)

static __global__ void work_a(float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = i * 1e-6f;
    S4K(0) S4K(4096) S4K(8192) S4K(12288)
    out[i] = x;
}

static __global__ void work_b(float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = i * 1e-6f;
#pragma unroll 16
    for (int k = 0; k < STEPS; ++k) x = fmaf(x, scale[k % 1024], 1e-3f);
    out[i] = x;
}

static void prepare() {
    std::vector<float> values(1024);
    for (int k = 0; k < 1024; ++k) values[k] = 0.5f + 4.8828125e-4f * k;
    CHECK(cudaMemcpyToSymbol(scale, values.data(), sizeof(float) * 1024));
    out = device_floats(GRID * BLOCK);
    compare(out, GRID * BLOCK);
}

static Register one({"P81", prepare, [] { work_a<<<GRID, BLOCK>>>(out); }, [] { work_b<<<GRID, BLOCK>>>(out); }});
