/*
id: P70
tool: ncu
title: Filter over a volatile signal
planted: volatile makes every tap a new read of L2; neighbouring outputs share 63 of 64 inputs
cure: a window of registers over a tile staged once in shared memory
expect: [memory/l1-low-hit-high-traffic]
wrong: DRAM bandwidth; coalescing (loads are in order)
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 23, TAPS = 64, BLOCK = 256, OWN = 8;

static __global__ void work_a(const volatile float* in, float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float total = 0.f;
#pragma unroll 8
    for (int k = 0; k < TAPS; ++k) total = fmaf(total, 0.9f, in[i + k]);
    out[i] = total;
}

static __global__ void work_b(const float* in, float* out) {
    __shared__ float tile[(BLOCK * OWN + TAPS) / 8 * 9];  // a gap after every eight keeps the banks apart
    int first = blockIdx.x * BLOCK * OWN, t = threadIdx.x;
    for (int k = t; k < BLOCK * OWN + TAPS; k += BLOCK) tile[k + k / 8] = in[first + k];
    __syncthreads();
    float window[OWN], total[OWN] = {};
#pragma unroll
    for (int j = 0; j < OWN; ++j) window[j] = tile[t * 9 + j];
    for (int k = 0; k < TAPS; k += OWN)
#pragma unroll
        for (int j = 0; j < OWN; ++j) {
#pragma unroll
            for (int l = 0; l < OWN; ++l) total[l] = fmaf(total[l], 0.9f, window[(j + l) % OWN]);
            window[j] = tile[(t + 1 + k / OWN) * 9 + j];
        }
    for (int l = 0; l < OWN; l += 4)
        *reinterpret_cast<float4*>(&out[first + t * OWN + l]) = make_float4(total[l], total[l + 1], total[l + 2], total[l + 3]);
}

static void prepare() {
    in = device_floats(N + BLOCK * OWN + TAPS);
    out = device_floats(N);
    compare(out, N);
}

static Register one({"P70", prepare, [] { work_a<<<N / BLOCK, BLOCK>>>(in, out); },
                     [] { work_b<<<N / BLOCK / OWN, BLOCK>>>(in, out); }});
