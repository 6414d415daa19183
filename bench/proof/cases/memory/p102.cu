/*
id: P102
tool: ncu
title: Every thread owns a block of neighbouring elements
planted: the loop is split as for CPU threads, 256 floats per thread; lanes are 1 KB apart, loads and stores
cure: neighbouring threads take neighbouring elements
expect: [memory/uncoalesced-global-access]
wrong: caches are too small; more registers
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 27, OWN = 256;

static __global__ void work_a(const float* in, float* out) {
    size_t first = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * OWN;
    for (int i = 0; i < OWN; ++i) out[first + i] = 2.f * in[first + i] + 1.f;
}

static __global__ void work_b(const float* in, float* out) {
    size_t first = blockIdx.x * size_t(blockDim.x) * OWN + threadIdx.x;
    for (int i = 0; i < OWN; ++i) out[first + size_t(i) * blockDim.x] = 2.f * in[first + size_t(i) * blockDim.x] + 1.f;
}

static Register one({"P102", [] { in = device_floats(N); out = device_floats(N); compare(out, N); },
                     [] { work_a<<<N / OWN / 256, 256>>>(in, out); },
                     [] { work_b<<<N / OWN / 256, 256>>>(in, out); }});
