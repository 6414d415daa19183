/*
id: P29
tool: ncu
title: Private bins indexed by data
planted: a local array with a run-time index lives in local memory
cure: one column of shared memory per thread
expect: [memory/local-memory-traffic]
wrong: register spills as the cause; more registers
*/
#include "../../harness/kernels.cuh"

static uint32_t* in;
static float* out;
constexpr int BINS = 32, OWN = 128, BLOCK = 128, GRID = SMS * 16;

static __global__ void work_a(const uint32_t* in, float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float bins[BINS];
    for (int b = 0; b < BINS; ++b) bins[b] = 0.f;
    for (int k = 0; k < OWN; ++k) {
        uint32_t value = in[k * GRID * BLOCK + i];
#pragma unroll
        for (int shift = 0; shift < 25; shift += 5) bins[(value >> shift) & 31] += 1.f;
    }
    float total = 0.f;
    for (int b = 0; b < BINS; ++b) total += bins[b] * bins[b] * b;
    out[i] = total;
}

static __global__ void work_b(const uint32_t* in, float* out) {
    __shared__ float bins[BINS][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, t = threadIdx.x;
    for (int b = 0; b < BINS; ++b) bins[b][t] = 0.f;
    for (int k = 0; k < OWN; ++k) {
        uint32_t value = in[k * GRID * BLOCK + i];
#pragma unroll
        for (int shift = 0; shift < 25; shift += 5) bins[(value >> shift) & 31][t] += 1.f;
    }
    float total = 0.f;
    for (int b = 0; b < BINS; ++b) total += bins[b][t] * bins[b][t] * b;
    out[i] = total;
}

static void prepare() {
    in = device_ints(size_t(OWN) * GRID * BLOCK, 1u << 31);
    out = device_floats(GRID * BLOCK);
    compare(out, GRID * BLOCK);
}

static Register one({"P29", prepare, [] { work_a<<<GRID, BLOCK>>>(in, out); },
                     [] { work_b<<<GRID, BLOCK>>>(in, out); }});
