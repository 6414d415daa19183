/*
id: P24
tool: ncu
title: 160 coefficients kept in registers of every thread
planted: 200 registers and more per thread leave 8 warps per SM to hide the latency of dependent loads
cure: the coefficients in constant memory
expect: [occupancy/low-theoretical-occupancy]
wrong: coalescing (each warp reads whole lines); tensor cores
*/
#include "../../harness/chase.cuh"

static uint32_t* rows;
static float *coefficients, *out;
static __constant__ float fixed[160];
constexpr int COUNT = 160, HOPS = 24, GRID = SMS * 8, BLOCK = 256;

static __global__ void __launch_bounds__(BLOCK, 1) work_a(const uint32_t* rows, const float* coefficients, float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float c[COUNT];
#pragma unroll
    for (int j = 0; j < COUNT; ++j) c[j] = coefficients[j * 32 + (threadIdx.x & 31)];
    uint32_t row = first_row(i / 32);
    float total[4] = {};
    for (int k = 0; k < HOPS; ++k) {
        float value = hop(rows, row);
#pragma unroll
        for (int j = 0; j < COUNT; ++j) total[j % 4] = fmaf(c[j], value, total[j % 4]);
    }
    out[i] = total[0] + total[1] + total[2] + total[3];
}

static __global__ void __launch_bounds__(BLOCK) work_b(const uint32_t* rows, float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    uint32_t row = first_row(i / 32);
    float total[4] = {};
    for (int k = 0; k < HOPS; ++k) {
        float value = hop(rows, row);
#pragma unroll
        for (int j = 0; j < COUNT; ++j) total[j % 4] = fmaf(fixed[j], value, total[j % 4]);
    }
    out[i] = total[0] + total[1] + total[2] + total[3];
}

static void prepare() {
    rows = chase_rows();
    std::vector<float> values(COUNT), wide(COUNT * 32);
    for (int j = 0; j < COUNT * 32; ++j) wide[j] = values[j / 32] = 0.001f * (j / 32 * 37 % 101 - 50);
    coefficients = device_copy(wide);
    CHECK(cudaMemcpyToSymbol(fixed, values.data(), COUNT * sizeof(float)));
    out = device_floats(GRID * BLOCK);
    compare(out, GRID * BLOCK);
}

static Register one({"P24", prepare, [] { work_a<<<GRID, BLOCK>>>(rows, coefficients, out); },
                     [] { work_b<<<GRID, BLOCK>>>(rows, out); }});
