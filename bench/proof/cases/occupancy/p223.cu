/*
id: P223
tool: ncu
title: Two blocks more than the SMs hold
planted: 266 long blocks where 264 run at once, so the last two run alone
cure: blocks a sixteenth as long, sixteen times as many
expect: [occupancy/tail-effect]
wrong: coalescing; precision
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int BLOCKS = 2 * SMS + 2, WORK = 40960;

static __global__ void series(float* out, int length, int parts) {
    extern __shared__ float pad[];
    int job = blockIdx.x / parts, part = blockIdx.x % parts;
    float x = 0.001f * (threadIdx.x + job), y = x * 0.5f, total = pad[0] * 0.f + part;
    for (int k = 0; k < length; ++k) {
        x = x * 0.9999f + 0.0001f;
        y = y * 0.9998f + 0.0002f;
        total += x * y;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

static void launch(int parts) {
    constexpr int shared = 96 * 1024;
    CHECK(cudaFuncSetAttribute(series, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    series<<<BLOCKS * parts, 512, shared>>>(out, WORK / parts, parts);
}

static Register one({"P223",
                     [] { out = device_floats(BLOCKS * 16 * 512); },
                     [] { launch(1); },
                     [] { launch(16); }});
