/*
id: P23
tool: ncu
title: Columns of a 32 by 32 tile in shared memory
planted: rows of 32 floats put a column into a single bank, so 32 lanes are served one after another
cure: rows padded to 33 floats
expect: [memory/shared-bank-conflicts]
wrong: larger tiles; more warps
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int ROUNDS = 8, GRID = SMS * 8, BLOCK = 256;

template <int PITCH>
static __device__ float walk(const float* in) {
    __shared__ float tile[32 * PITCH];
    int lane = threadIdx.x & 31;
    for (int y = threadIdx.x / 32; y < 32; y += BLOCK / 32) tile[y * PITCH + lane] = in[y * 32 + lane];
    __syncthreads();
    float total = 0.f;
    for (int round = 0; round < ROUNDS; ++round)
#pragma unroll 8
        for (int x = 0; x < 32; ++x) total = fmaf(total, 0.75f, tile[lane * PITCH + ((x + round) & 31)]);
    return total;
}

static __global__ void work_a(const float* in, float* out) { out[blockIdx.x * BLOCK + threadIdx.x] = walk<32>(in); }
static __global__ void work_b(const float* in, float* out) { out[blockIdx.x * BLOCK + threadIdx.x] = walk<33>(in); }

static Register one({"P23",
                     [] { in = device_floats(1024); out = device_floats(GRID * BLOCK); compare(out, GRID * BLOCK); },
                     [] { work_a<<<GRID, BLOCK>>>(in, out); }, [] { work_b<<<GRID, BLOCK>>>(in, out); }});
