/*
id: C05
kind: control
tool: ncu
title: Layer normalization of 65536 rows, one warp per row
wrong: special functions; occupancy; any saving
*/
#include "../../harness/kernels.cuh"

static float4 *in, *out;
constexpr int ROWS = 1 << 16, COLUMNS = 1024;

static __device__ float sum(float value) {
    for (int step = 16; step; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    return value;
}

static __global__ void work(const float4* in, float4* out) {
    int lane = threadIdx.x & 31;
    size_t row = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) / 32 * (COLUMNS / 4);
    float4 v[8];
    float total = 0.f, squares = 0.f;
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = in[row + j * 32 + lane];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        total += v[j].x + v[j].y + v[j].z + v[j].w;
        squares += v[j].x * v[j].x + v[j].y * v[j].y + v[j].z * v[j].z + v[j].w * v[j].w;
    }
    float mean = sum(total) / COLUMNS, scale = rsqrtf(sum(squares) / COLUMNS - mean * mean + 1e-5f);
#pragma unroll
    for (int j = 0; j < 8; ++j)
        out[row + j * 32 + lane] = make_float4((v[j].x - mean) * scale, (v[j].y - mean) * scale,
                                               (v[j].z - mean) * scale, (v[j].w - mean) * scale);
}

static Register one({"C05",
                     [] {
                         in = reinterpret_cast<float4*>(device_floats(size_t(ROWS) * COLUMNS));
                         out = reinterpret_cast<float4*>(device_floats(size_t(ROWS) * COLUMNS));
                     },
                     nullptr, [] { work<<<ROWS / 8, 256>>>(in, out); }});
