/*
id: P34
tool: ncu
title: Triangular loop, one row range per block
planted: later blocks have longer rows; all blocks are resident at once, so some SMs work far longer
cure: every block takes an equal part of the triangle
expect: [imbalance/sm-work-imbalance]
wrong: a larger grid of the same shape; occupancy
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int GRID = SMS, BLOCK = 1024, UNIT = 64;

static __global__ void work_a(float* out, bool even) {
    int units = even ? (GRID + 1) / 2 : blockIdx.x + 1;
    float x = threadIdx.x * 1e-3f, y = x + 1.f, z = x + 2.f, w = x + 3.f;
    for (int k = 0; k < units * UNIT; ++k) {
        x = fmaf(x, 0.99f, 0.01f);
        y = fmaf(y, 0.98f, 0.02f);
        z = fmaf(z, 0.97f, 0.03f);
        w = fmaf(w, 0.96f, 0.04f);
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = x + y + z + w;
}

static Register one({"P34", [] { out = device_floats(GRID * BLOCK); }, [] { work_a<<<GRID, BLOCK>>>(out, false); },
                     [] { work_a<<<GRID, BLOCK>>>(out, true); }});
