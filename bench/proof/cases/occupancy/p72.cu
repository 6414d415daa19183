/*
id: P72
tool: ncu
title: 66 large blocks
planted: half of the SMs have no block
cure: 132 blocks with half the work each
expect: [occupancy/small-grid]
wrong: stalls on fixed latency as the cause
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int BLOCK = 1024;

static __global__ void work_a(float* out, int rounds) {
    float x = threadIdx.x * 1e-3f, y = x + 1.f, z = x + 2.f, w = x + 3.f;
    for (int k = 0; k < rounds; ++k) {
        x = fmaf(x, 0.99f, 0.01f);
        y = fmaf(y, 0.98f, 0.02f);
        z = fmaf(z, 0.97f, 0.03f);
        w = fmaf(w, 0.96f, 0.04f);
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = x + y + z + w;
}

static Register one({"P72", [] { out = device_floats(SMS * BLOCK); }, [] { work_a<<<SMS / 2, BLOCK>>>(out, 16384); },
                     [] { work_a<<<SMS, BLOCK>>>(out, 8192); }});
