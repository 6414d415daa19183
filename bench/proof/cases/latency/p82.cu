/*
id: P82
tool: ncu
title: A fence after every store
planted: __threadfence in the inner loop waits for each store to be visible to the whole GPU
cure: one fence at the end
expect: [latency/stall-membar]
wrong: coalescing; occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int BLOCK = 256, GRID = SMS * 16, OWN = 32;

static __global__ void work_a(const float* in, float* out, bool fence) {
    for (int k = 0; k < OWN; ++k) {
        int i = (k * GRID + blockIdx.x) * BLOCK + threadIdx.x;
        out[i] = 2.f * in[i];
        if (fence) __threadfence();
    }
    __threadfence();
}

static Register one({"P82",
                     [] {
                         in = device_floats(OWN * GRID * BLOCK);
                         out = device_floats(OWN * GRID * BLOCK);
                         compare(out, OWN * GRID * BLOCK);
                     },
                     [] { work_a<<<GRID, BLOCK>>>(in, out, true); }, [] { work_a<<<GRID, BLOCK>>>(in, out, false); }});
