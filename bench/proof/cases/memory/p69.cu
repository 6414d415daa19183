/*
id: P69
tool: ncu
title: Matrix product with one result per thread
planted: each multiply-add reads two floats from shared memory; shared memory limits, the FMA pipe idles
cure: 8 by 8 results per thread, operands kept in registers
expect: [memory/l1-bandwidth-bound]
wrong: bank conflicts; occupancy; DRAM
*/
#include "../../harness/kernels.cuh"

static float *a, *b, *c;
constexpr int N = 2048;

static __global__ void work_a(const float* a, const float* b, float* c) {
    __shared__ float left[32][32], right[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float total = 0.f;
    for (int k = 0; k < N; k += 32) {
        left[y][x] = a[row * N + k + x];
        right[y][x] = b[(k + y) * N + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32; ++i) total = fmaf(left[y][i], right[i][x], total);
        __syncthreads();
    }
    c[row * N + column] = total;
}

static __global__ void __launch_bounds__(256) work_b(const float* a, const float* b, float* c) {
    __shared__ float left[8][128], right[8][128];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    const float* first = a + (blockIdx.y * 128 + t / 2) * N + t % 2 * 4;
    const float* second = b + (t / 32) * N + blockIdx.x * 128 + t % 32 * 4;
    float total[8][8] = {};
    for (int k = 0; k < N; k += 8) {
        float4 u = *reinterpret_cast<const float4*>(first + k);
        float4 v = *reinterpret_cast<const float4*>(second + size_t(k) * N);
        left[t % 2 * 4][t / 2] = u.x;
        left[t % 2 * 4 + 1][t / 2] = u.y;
        left[t % 2 * 4 + 2][t / 2] = u.z;
        left[t % 2 * 4 + 3][t / 2] = u.w;
        *reinterpret_cast<float4*>(&right[t / 32][t % 32 * 4]) = v;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float p[8], q[8];
#pragma unroll
            for (int j = 0; j < 8; ++j) p[j] = left[i][y * 8 + j], q[j] = right[i][x * 4 + j % 4 + j / 4 * 64];
#pragma unroll
            for (int j = 0; j < 8; ++j)
#pragma unroll
                for (int l = 0; l < 8; ++l) total[j][l] = fmaf(p[j], q[l], total[j][l]);
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; ++j)
        for (int l = 0; l < 8; l += 4)
            *reinterpret_cast<float4*>(c + (blockIdx.y * 128 + y * 8 + j) * N + blockIdx.x * 128 + x * 4 + l * 16) =
                *reinterpret_cast<float4*>(&total[j][l]);
}

static void prepare() {
    a = device_floats(N * N);
    b = device_floats(N * N);
    c = device_floats(N * N);
    compare(c, N * N);
}

static Register one({"P69", prepare, [] { work_a<<<dim3(N / 32, N / 32), dim3(32, 32)>>>(a, b, c); },
                     [] { work_b<<<dim3(N / 128, N / 128), 256>>>(a, b, c); }});
