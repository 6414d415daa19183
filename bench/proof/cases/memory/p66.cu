/*
id: P66
tool: ncu
title: Look-up through an unsorted index
planted: each thread reads a random float of a 256 MB table, one sector per float
cure: the same floats in an order that keeps neighbours together
expect: [memory/uncoalesced-global-access]
wrong: more warps; larger L2
*/
#include "../../harness/kernels.cuh"

static float *table, *out;
static uint32_t *mixed, *sorted;
constexpr int N = 1 << 26;

static __global__ void work_a(const float* table, const uint32_t* index, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[index[i]];
}

static void prepare() {
    table = device_floats(N);
    out = device_floats(N);
    mixed = device_ints(N, N);
    std::vector<uint32_t> order(N);
    for (uint32_t i = 0; i < N; ++i) order[i] = i ^ (i * 2654435761u >> 27);
    sorted = device_copy(order);
}

static Register one({"P66", prepare, [] { work_a<<<N / 256, 256>>>(table, mixed, out); },
                     [] { work_a<<<N / 256, 256>>>(table, sorted, out); }});
