/*
id: C32
kind: control
tool: ncu
title: Persistent kernel, one resident wave that takes items by stride
wrong: tail effect; small grid; imbalance
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int BLOCK = 1024, GRID = SMS * 2, ITEMS = SMS * 2 * 24;

static __global__ void __launch_bounds__(BLOCK, 2) work(const float* in, float* out) {
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

static Register one({"C32", [] { in = device_floats(ITEMS * BLOCK); out = device_floats(ITEMS * BLOCK); }, nullptr,
                     [] { work<<<GRID, BLOCK>>>(in, out); }});
