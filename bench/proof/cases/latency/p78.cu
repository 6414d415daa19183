/*
id: P78
tool: ncu
title: Filter that reads signal and coefficients from shared memory for every tap
planted: two shared-memory reads per multiply-add fill the queue to shared memory
cure: eight outputs per thread share every coefficient, read four at a time
expect: [memory/l1-bandwidth-bound, latency/stall-mio-throttle, latency/stall-short-scoreboard]
wrong: bank conflicts (there are none); DRAM
*/
#include "../../harness/kernels.cuh"

static float *in, *taps, *out;
constexpr int N = 1 << 23, TAPS = 64, BLOCK = 256, OWN = 8;

static __global__ void work_a(const float* in, const float* taps, float* out) {
    __shared__ float tile[BLOCK + TAPS], weight[TAPS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = in[i];
    if (threadIdx.x < TAPS) tile[BLOCK + threadIdx.x] = in[i + BLOCK], weight[threadIdx.x] = taps[threadIdx.x];
    __syncthreads();
    float total = 0.f;
#pragma unroll 1
    for (int k = 0; k < TAPS; k += 4)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const volatile float* w = weight;
            total = fmaf(w[k + j], tile[threadIdx.x + k + j], total);
        }
    out[i] = total;
}

static __global__ void work_b(const float* in, const float* taps, float* out) {
    __shared__ float tile[BLOCK * OWN + TAPS], weight[TAPS];
    int first = blockIdx.x * BLOCK * OWN, t = threadIdx.x;
    for (int k = t; k < BLOCK * OWN + TAPS; k += BLOCK) tile[k] = in[first + k];
    if (t < TAPS) weight[t] = taps[t];
    __syncthreads();
    float total[OWN] = {};
    for (int k = 0; k < TAPS; k += 4) {
        float4 w = *reinterpret_cast<const float4*>(&weight[k]);
#pragma unroll
        for (int j = 0; j < OWN; ++j) {
            const float* x = &tile[t + j * BLOCK + k];
            total[j] = fmaf(w.w, x[3], fmaf(w.z, x[2], fmaf(w.y, x[1], fmaf(w.x, x[0], total[j]))));
        }
    }
    for (int j = 0; j < OWN; ++j) out[first + j * BLOCK + t] = total[j];
}

static void prepare() {
    in = device_floats(N + BLOCK * OWN + TAPS);
    taps = device_floats(TAPS, -1.f, 1.f);
    out = device_floats(N);
    compare(out, N);
}

static Register one({"P78", prepare, [] { work_a<<<N / BLOCK, BLOCK>>>(in, taps, out); },
                     [] { work_b<<<N / BLOCK / OWN, BLOCK>>>(in, taps, out); }});
