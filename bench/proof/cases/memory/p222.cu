/*
id: P222
tool: ncu
title: Per-thread table indexed by data
planted: 64 floats per thread lie in local memory because their index is known at run time only
cure: the table in shared memory
expect: [memory/local-memory-traffic]
wrong: precision; tensor cores
*/
#include "../../harness/kernels.cuh"

static uint32_t* keys;
static float* out;
constexpr int N = 1 << 20, KEYS = 64, THREADS = 128;

static __global__ void count_local(const uint32_t* keys, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float table[64];
    for (int k = 0; k < 64; ++k) table[k] = k * 0.5f;
    for (int k = 0; k < KEYS; ++k) {
        uint32_t key = keys[size_t(k) * N + i];
        table[key] += 1.f + table[(key * 7 + k) & 63];
    }
    float total = 0.f;
    for (int k = 0; k < 64; ++k) total += table[k] * (k + 1);
    out[i] = total;
}

static __global__ void count_shared(const uint32_t* keys, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float tables[64][THREADS];
    for (int k = 0; k < 64; ++k) tables[k][threadIdx.x] = k * 0.5f;
    for (int k = 0; k < KEYS; ++k) {
        uint32_t key = keys[size_t(k) * N + i];
        tables[key][threadIdx.x] += 1.f + tables[(key * 7 + k) & 63][threadIdx.x];
    }
    float total = 0.f;
    for (int k = 0; k < 64; ++k) total += tables[k][threadIdx.x] * (k + 1);
    out[i] = total;
}

static Register one({"P222",
                     [] { keys = device_ints(size_t(N) * KEYS, 64); out = device_floats(N); compare(out, N); },
                     [] { count_local<<<N / THREADS, THREADS>>>(keys, out); },
                     [] { count_shared<<<N / THREADS, THREADS>>>(keys, out); }});
