/*
id: P70
tool: ncu
title: Filter over a volatile signal
planted: volatile makes every tap a new read of L2; neighbouring outputs share 63 of 64 inputs
cure: the tile staged once in shared memory
expect: [memory/l1-low-hit-high-traffic]
wrong: DRAM bandwidth; coalescing (loads are in order)
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 23, TAPS = 64, BLOCK = 256;

static __global__ void work_a(const volatile float* in, float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float total = 0.f;
#pragma unroll 8
    for (int k = 0; k < TAPS; ++k) total = fmaf(total, 0.9f, in[i + k]);
    out[i] = total;
}

static __global__ void work_b(const float* in, float* out) {
    __shared__ float tile[BLOCK + TAPS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = in[i];
    if (threadIdx.x < TAPS) tile[BLOCK + threadIdx.x] = in[i + BLOCK];
    __syncthreads();
    float total = 0.f;
#pragma unroll 8
    for (int k = 0; k < TAPS; ++k) total = fmaf(total, 0.9f, tile[threadIdx.x + k]);
    out[i] = total;
}

static Register one({"P70", [] { in = device_floats(N + BLOCK + TAPS); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / BLOCK, BLOCK>>>(in, out); }, [] { work_b<<<N / BLOCK, BLOCK>>>(in, out); }});
