/*
id: P67
tool: ncu
title: Rows written as columns
planted: every warp reads a row and writes a column, 32 KB between neighbouring lanes
cure: a padded tile in shared memory, so that reads and writes are rows
expect: [memory/uncoalesced-global-access]
wrong: bank conflicts (there is no shared memory in the bad program)
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 8192;

static __global__ void work_a(const float* in, float* out) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[x * N + y + j] = in[(y + j) * N + x];
}

static __global__ void work_b(const float* in, float* out) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * N + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * N + x] = tile[threadIdx.x][threadIdx.y + j];
}

static Register one({"P67", [] { in = device_floats(N * N); out = device_floats(N * N); compare(out, N * N); },
                     [] { work_a<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(in, out); },
                     [] { work_b<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(in, out); }});
