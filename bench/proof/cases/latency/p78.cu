/*
id: P78
tool: ncu
title: Filter that reads signal and coefficients from shared memory for every tap
planted: two shared-memory reads per multiply-add fill the queue to shared memory
cure: eight outputs per thread from a window of registers share every coefficient
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
    __shared__ float tile[(BLOCK * OWN + TAPS) / 8 * 9];  // a gap after every eight keeps the banks apart
    __shared__ float weight[TAPS];
    int first = blockIdx.x * BLOCK * OWN, t = threadIdx.x;
    for (int k = t; k < BLOCK * OWN + TAPS; k += BLOCK) tile[k + k / 8] = in[first + k];
    if (t < TAPS) weight[t] = taps[t];
    __syncthreads();
    float window[OWN], total[OWN] = {};
#pragma unroll
    for (int j = 0; j < OWN; ++j) window[j] = tile[t * 9 + j];
    for (int k = 0; k < TAPS; k += OWN)
#pragma unroll
        for (int j = 0; j < OWN; ++j) {
            float w = weight[k + j];
#pragma unroll
            for (int l = 0; l < OWN; ++l) total[l] = fmaf(w, window[(j + l) % OWN], total[l]);
            window[j] = tile[(t + 1 + k / OWN) * 9 + j];
        }
    for (int l = 0; l < OWN; l += 4)
        *reinterpret_cast<float4*>(&out[first + t * OWN + l]) = make_float4(total[l], total[l + 1], total[l + 2], total[l + 3]);
}

static void prepare() {
    in = device_floats(N + BLOCK * OWN + TAPS);
    taps = device_floats(TAPS, -1.f, 1.f);
    out = device_floats(N);
    compare(out, N);
}

static Register one({"P78", prepare, [] { work_a<<<N / BLOCK, BLOCK>>>(in, taps, out); },
                     [] { work_b<<<N / BLOCK / OWN, BLOCK>>>(in, taps, out); }});
