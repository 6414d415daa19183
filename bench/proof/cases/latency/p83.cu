/*
id: P83
tool: ncu
title: Consumers that sleep while they wait
planted: waiting warps back off for 20 microseconds although their data comes after one
cure: a barrier
expect: [latency/stall-sleeping]
wrong: occupancy; memory latency
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int BLOCK = 64, GRID = SMS * 32, PIECES = 8;

static __device__ float piece(float x) {
    for (int k = 0; k < 128; ++k) x = fmaf(x, 0.99f, 0.01f);
    return x;
}

static __global__ void work_a(float* out) {
    __shared__ volatile float data[PIECES][32];
    __shared__ volatile int ready;
    int lane = threadIdx.x & 31;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    float x = lane * 1e-3f, total = 0.f;
    for (int p = 0; p < PIECES; ++p) {
        if (threadIdx.x < 32) {
            x = piece(x);
            data[p][lane] = x;
            __syncwarp();
            __threadfence_block();
            if (lane == 0) ready = p + 1;
        } else {
            while (ready <= p) __nanosleep(20000);
            total += piece(data[p][lane]);
        }
    }
    if (threadIdx.x >= 32) out[blockIdx.x * 32 + lane] = total;
}

static __global__ void work_b(float* out) {
    __shared__ float data[PIECES][32];
    int lane = threadIdx.x & 31;
    float x = lane * 1e-3f, total = 0.f;
    for (int p = 0; p < PIECES; ++p) {
        if (threadIdx.x < 32) data[p][lane] = x = piece(x);
        __syncthreads();
        if (threadIdx.x >= 32) total += piece(data[p][lane]);
    }
    if (threadIdx.x >= 32) out[blockIdx.x * 32 + lane] = total;
}

static Register one({"P83", [] { out = device_floats(GRID * 32); compare(out, GRID * 32); },
                     [] { work_a<<<GRID, BLOCK>>>(out); }, [] { work_b<<<GRID, BLOCK>>>(out); }});
