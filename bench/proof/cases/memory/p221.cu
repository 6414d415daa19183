/*
id: P221
tool: ncu
title: Lattice cells that keep their nine distributions together
planted: neighbouring threads read and write floats 36 bytes apart
cure: one array per distribution
expect: [memory/uncoalesced-global-access]
wrong: precision; occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 23;

template <bool together>
static __device__ size_t at(int cell, int k) {
    return together ? size_t(cell) * 9 + k : size_t(k) * N + cell;
}

template <bool together>
static __global__ void relax(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float f[9], total = 0.f;
    for (int k = 0; k < 9; ++k) total += f[k] = in[at<together>(i, k)];
    for (int k = 0; k < 9; ++k) out[at<together>(i, k)] = f[k] + 0.6f * (total / 9.f - f[k]);
}

static Register one({"P221",
                     [] { in = device_floats(9ull * N); out = device_floats(9ull * N); },
                     [] { relax<true><<<N / 256, 256>>>(in, out); },
                     [] { relax<false><<<N / 256, 256>>>(in, out); }});
