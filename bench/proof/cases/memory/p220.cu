/*
id: P220
tool: ncu
title: Transpose through a tile of 32 by 32
planted: the tile is read by columns whose elements share one bank
cure: a row of the tile is 33 floats wide
expect: [memory/shared-bank-conflicts]
wrong: occupancy; uncoalesced access
wrong_rules: [memory/uncoalesced-global-access]
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int N = 8192;

template <int pitch>
static __global__ void turn(const float* in, float* out) {
    __shared__ float tile[32][pitch];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[size_t(y + k) * N + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[size_t(y + k) * N + x] = tile[threadIdx.x][threadIdx.y + k];
}

static Register one({"P220",
                     [] { in = device_floats(size_t(N) * N); out = device_floats(size_t(N) * N); compare(out, size_t(N) * N); },
                     [] { turn<32><<<dim3(N / 32, N / 32), dim3(32, 8)>>>(in, out); },
                     [] { turn<33><<<dim3(N / 32, N / 32), dim3(32, 8)>>>(in, out); }});
