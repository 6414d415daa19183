/*
id: P71
tool: ncu
title: 560 blocks where 528 fit
planted: 32 blocks are left for a second wave that is as long as the first
cure: 528 blocks that share the work
expect: [occupancy/tail-effect]
wrong: more occupancy; uneven work per block
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int BLOCK = 512, ITEMS = 560 * 33;

static __global__ void __launch_bounds__(BLOCK, 4) work_a(const float* in, float* out) {
    for (int item = blockIdx.x; item < ITEMS; item += gridDim.x) {
        float x = in[item * BLOCK + threadIdx.x], y = x + 1.f, z = x + 2.f, w = x + 3.f;
        for (int k = 0; k < 512; ++k) {
            x = fmaf(x, 0.99f, 0.01f);
            y = fmaf(y, 0.98f, 0.02f);
            z = fmaf(z, 0.97f, 0.03f);
            w = fmaf(w, 0.96f, 0.04f);
        }
        out[item * BLOCK + threadIdx.x] = x + y + z + w;
    }
}

static Register one({"P71",
                     [] { in = device_floats(ITEMS * BLOCK); out = device_floats(ITEMS * BLOCK); compare(out, ITEMS * BLOCK); },
                     [] { work_a<<<560, BLOCK>>>(in, out); }, [] { work_a<<<528, BLOCK>>>(in, out); }});
