/*
id: P30
tool: ncu
title: 133 blocks on 132 SMs, one block per SM
planted: the last block runs alone for a whole wave
cure: the same work in 132 blocks
expect: [occupancy/tail-effect]
wrong: more occupancy; uneven work per block
*/
#include "../../harness/kernels.cuh"

static float* out;
constexpr int BLOCK = 1024, BYTES = 128 << 10, UNIT = 60;

static __global__ void work_a(float* out, int units) {
    extern __shared__ float scratch[];
    float x = threadIdx.x * 1e-3f, y = x + 1.f, z = x + 2.f, w = x + 3.f;
    for (int k = 0; k < units * UNIT; ++k) {
        x = fmaf(x, 0.99f, 0.01f);
        y = fmaf(y, 0.98f, 0.02f);
        z = fmaf(z, 0.97f, 0.03f);
        w = fmaf(w, 0.96f, 0.04f);
    }
    scratch[threadIdx.x] = x + y + z + w;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x ^ 1];
}

static void launch(int grid, int units) {
    CHECK(cudaFuncSetAttribute(work_a, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
    work_a<<<grid, BLOCK, BYTES>>>(out, units);
}

static Register one({"P30", [] { out = device_floats((SMS + 1) * BLOCK); }, [] { launch(SMS + 1, SMS); },
                     [] { launch(SMS, SMS + 1); }});
