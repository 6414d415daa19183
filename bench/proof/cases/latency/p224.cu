/*
id: P224
tool: ncu
title: Particles of four kinds, mixed in memory
planted: each warp runs the code of all four kinds, one after another
cure: particles sorted by kind
expect: [latency/divergence]
wrong: coalescing; precision
*/
#include "../../harness/kernels.cuh"

#include <algorithm>

static uint32_t *mixed, *sorted;
static float* out;
constexpr int N = 1 << 21;

static __global__ void push(const uint32_t* kinds, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (i & 1023) * 0.001f, v = 0.1f;
    switch (kinds[i]) {
        case 0:
            for (int k = 0; k < 200; ++k) { x = fmaf(v, 0.01f, x); v = fmaf(-x, 0.02f, v); }
            break;
        case 1:
            for (int k = 0; k < 200; ++k) { x = fmaf(v, x, 0.3f); v = fmaf(v, 0.97f, x * 0.01f); }
            break;
        case 2:
            for (int k = 0; k < 200; ++k) { v = fmaf(x, 0.5f, v * 0.5f); x = fmaf(-v, 0.25f, x); }
            break;
        default:
            for (int k = 0; k < 200; ++k) { x = fmaf(x, 0.99f, v); v = fmaf(v, -0.5f, x * 0.1f); }
    }
    out[i] = x + v;
}

static Register one({"P224",
                     [] {
                         std::vector<uint32_t> kinds(N);
                         uint32_t seed = 1;
                         for (uint32_t& kind : kinds) kind = (seed = seed * 1664525u + 1013904223u) >> 30;
                         mixed = device_copy(kinds);
                         std::sort(kinds.begin(), kinds.end());
                         sorted = device_copy(kinds);
                         out = device_floats(N);
                     },
                     [] { push<<<N / 256, 256>>>(mixed, out); },
                     [] { push<<<N / 256, 256>>>(sorted, out); }});
