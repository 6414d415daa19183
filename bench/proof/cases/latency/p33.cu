/*
id: P33
tool: ncu
title: Four formulas, chosen lane by lane
planted: neighbouring threads take different branches, so each warp executes all four
cure: threads sorted by branch, whole warps take one
expect: [latency/divergence]
wrong: occupancy; stalls on fixed latency
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int THREADS = SMS * 2048 * 2, ROUNDS = 192;

static __device__ float formula(int kind, float x) {
    float y = x + 1.f;
    switch (kind) {
        case 0:
            for (int k = 0; k < ROUNDS; ++k) x = fmaf(x, 0.99f, y), y = fmaf(y, 0.5f, 0.1f);
            return x;
        case 1:
            for (int k = 0; k < ROUNDS; ++k) x = fmaf(x, y, 0.3f) - 0.25f, y = y * 0.97f;
            return x + y;
        case 2:
            for (int k = 0; k < ROUNDS; ++k) x = fmaxf(x * 0.9f, y - 0.5f), y = fmaf(y, 0.98f, x);
            return x - y;
        default:
            for (int k = 0; k < ROUNDS; ++k) x = fabsf(x - y) + 0.01f, y = fminf(y + 0.02f, x * 1.5f);
            return x * y;
    }
}

static __global__ void work_a(const float* in, float* out, bool sorted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = formula((sorted ? i / 32 : i) & 3, in[i]);
}

static Register one({"P33", [] { in = device_floats(THREADS); out = device_floats(THREADS); },
                     [] { work_a<<<THREADS / 256, 256>>>(in, out, false); },
                     [] { work_a<<<THREADS / 256, 256>>>(in, out, true); }});
