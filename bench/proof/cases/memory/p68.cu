/*
id: P68
tool: ncu
title: Fields of 32-byte records in shared memory
planted: lanes read one field each of neighbouring 32-byte records; eight lanes share a bank
cure: one array per field
expect: [memory/shared-bank-conflicts]
wrong: uncoalesced global access; more occupancy
*/
#include "../../harness/kernels.cuh"

static float *in, *out;
constexpr int BLOCK = 256, FIELDS = 8, ROUNDS = 48, GRID = SMS * 16;

template <bool RECORDS>
static __device__ float sum(const float* in) {
    __shared__ float data[BLOCK * FIELDS];
    for (int i = threadIdx.x; i < BLOCK * FIELDS; i += BLOCK) data[i] = in[i];
    __syncthreads();
    float total = 0.f;
    for (int round = 0; round < ROUNDS; ++round) {
#pragma unroll
        for (int field = 0; field < FIELDS; ++field) {
            int record = (threadIdx.x + round * 7 + field * 32) % BLOCK;
            float value = RECORDS ? data[record * FIELDS + field] : data[field * BLOCK + record];
            total = fmaf(total, value, 0.5f);
            total = fmaf(total, value, 0.25f);
            total = fmaf(total, value, 0.125f);
        }
    }
    return total;
}

static __global__ void work_a(const float* in, float* out) {
    out[blockIdx.x * BLOCK + threadIdx.x] = sum<true>(in);
}

static __global__ void work_b(const float* in, float* out) {
    out[blockIdx.x * BLOCK + threadIdx.x] = sum<false>(in);
}

static Register one({"P68", [] { in = device_floats(BLOCK * FIELDS); out = device_floats(GRID * BLOCK); },
                     [] { work_a<<<GRID, BLOCK>>>(in, out); }, [] { work_b<<<GRID, BLOCK>>>(in, out); }});
