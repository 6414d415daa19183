/*
id: P74
tool: ncu
title: A few blocks with fifty times the work
planted: 33 of 2112 blocks are long; the SMs that hold them work on after the others are done
cure: the long blocks' work dealt out to all
expect: [imbalance/sm-work-imbalance]
wrong: tail effect from the grid size; occupancy
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int GRID = SMS * 16, BLOCK = 256, LONG = 64 * 50, SHORT = 64;

static __global__ void work_a(float* out, bool even) {
    int rounds = even ? (LONG + 63 * SHORT) / 64 : blockIdx.x % 64 == 0 ? LONG : SHORT;
    float x = threadIdx.x * 1e-3f, y = x + 1.f, z = x + 2.f, w = x + 3.f;
    for (int k = 0; k < rounds * 4; ++k) {
        x = fmaf(x, 0.99f, 0.01f);
        y = fmaf(y, 0.98f, 0.02f);
        z = fmaf(z, 0.97f, 0.03f);
        w = fmaf(w, 0.96f, 0.04f);
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = x + y + z + w;
}

static Register one({"P74", [] { out = device_floats(GRID * BLOCK); }, [] { work_a<<<GRID, BLOCK>>>(out, false); },
                     [] { work_a<<<GRID, BLOCK>>>(out, true); }});
