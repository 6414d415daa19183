/*
id: P27
tool: ncu
title: Blocks of 33 threads
planted: the second warp of each block has one thread and takes a whole warp's issue slots
cure: blocks of 64 threads
expect: [occupancy/block-not-multiple-of-warp]
wrong: divergence in the code
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int THREADS = 33 * 64 * 1024, ROUNDS = 256;

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], y = x + 1.f, z = x + 2.f, w = x + 3.f;
    for (int k = 0; k < ROUNDS; ++k) {
        x = fmaf(x, 0.99f, 0.01f);
        y = fmaf(y, 0.98f, 0.02f);
        z = fmaf(z, 0.97f, 0.03f);
        w = fmaf(w, 0.96f, 0.04f);
    }
    out[i] = x + y + z + w;
}

static Register one({"P27", [] { in = device_floats(THREADS); out = device_floats(THREADS); compare(out, THREADS); },
                     [] { work_a<<<THREADS / 33, 33>>>(in, out); }, [] { work_a<<<THREADS / 64, 64>>>(in, out); }});
