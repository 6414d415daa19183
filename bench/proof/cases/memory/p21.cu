/*
id: P21
tool: ncu
title: Gather with a stride of 32 floats
planted: neighbouring threads read addresses 128 bytes apart, so each 32-byte sector serves one float
cure: the same elements read in order
expect: [memory/uncoalesced-global-access]
wrong: more occupancy, more bytes per thread, FP16 storage
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 1 << 26, STRIDE = 32, COLUMN = N / STRIDE;

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2.f * in[(i % COLUMN) * STRIDE + i / COLUMN];
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2.f * in[i];
}

static Register one({"P21", [] { in = device_floats(N); out = device_floats(N); },
                     [] { work_a<<<N / 256, 256>>>(in, out); }, [] { work_b<<<N / 256, 256>>>(in, out); }});
