/*
id: P103
tool: ncu
title: Pairwise forces in double precision
planted: positions are floats, but distances and sums are kept in double; the FP64 pipe limits
cure: float
expect: [precision/fp64-arithmetic]
wrong: memory; bank conflicts
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 65536, BLOCK = 128;

template <typename T>
static __device__ T force(const float* in, int i) {
    __shared__ T tile[BLOCK];
    T x = in[i], total = 0;
    for (int first = 0; first < N; first += BLOCK) {
        tile[threadIdx.x] = in[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < BLOCK; ++j) {
            T d = x - tile[j];
            total += d * (T(1) - d * d * (T(0.5) - d * d * T(0.125)));
        }
        __syncthreads();
    }
    return total;
}

static __global__ void work_a(const float* in, float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = float(force<double>(in, i));
}

static __global__ void work_b(const float* in, float* out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = force<float>(in, i);
}

static Register one({"P103", [] { in = device_floats(N); out = device_floats(N); },
                     [] { work_a<<<N / BLOCK, BLOCK>>>(in, out); }, [] { work_b<<<N / BLOCK, BLOCK>>>(in, out); }});
