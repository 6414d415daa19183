/*
id: P42
tool: ncu
title: Eight passes over 400 MB
planted: every pass streams the whole array through DRAM; it does not fit into L2
cure: all eight steps on an element while it is in a register
expect: [memory/dram-bandwidth-bound, memory/l2-misses]
wrong: more occupancy; coalescing
*/
#include "../../harness/kernels.cuh"

static float4* data;
constexpr int N = 25 << 20, PASSES = 8, GRID = SMS * 8, BLOCK = 256;

static __device__ float4 step(float4 v) {
    return make_float4(v.x * 0.9f + 0.1f, v.y * 0.9f + 0.1f, v.z * 0.9f + 0.1f, v.w * 0.9f + 0.1f);
}

static __global__ void work_a(float4* data) {
    for (int pass = 0; pass < PASSES; ++pass)
        for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += GRID * BLOCK) data[i] = step(data[i]);
}

static __global__ void work_b(float4* data) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += GRID * BLOCK) {
        float4 value = data[i];
        for (int pass = 0; pass < PASSES; ++pass) value = step(value);
        data[i] = value;
    }
}

static Register one({"P42", [] { data = reinterpret_cast<float4*>(device_floats(4ull * N)); },
                     [] { work_a<<<GRID, BLOCK>>>(data); }, [] { work_b<<<GRID, BLOCK>>>(data); }});
