/*
id: P75
tool: ncu
title: Loops of random length
planted: a warp runs as long as its slowest lane; most lanes are done early
cure: work sorted by length
expect: [latency/divergence]
wrong: uneven blocks; occupancy
*/
#include <algorithm>

#include "../../harness/kernels.cuh"

static uint32_t *mixed, *sorted;
static float* out;
constexpr int THREADS = SMS * 2048 * 2;

static __global__ void work_a(const uint32_t* lengths, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 1.f, y = 2.f;
    for (uint32_t k = lengths[i]; k; --k) x = fmaf(x, 0.99f, y), y = fmaf(y, 0.5f, 0.1f);
    out[i] = x;
}

static void prepare() {
    std::vector<uint32_t> lengths(THREADS);
    uint32_t state = 1;
    for (auto& length : lengths) {
        state = state * 1664525u + 1013904223u;
        uint32_t u = state >> 22;  // 0..1023, squared for a long tail
        length = 8 + u * u / 1024;
    }
    mixed = device_copy(lengths);
    std::sort(lengths.begin(), lengths.end());
    // Whole groups of 32 equal lengths, dealt out so that blocks stay even.
    std::vector<uint32_t> dealt(THREADS);
    const int warps = THREADS / 32;
    for (int w = 0; w < warps; ++w) {
        int from = int((w * 48271ull) % warps);
        std::copy(lengths.begin() + from * 32, lengths.begin() + from * 32 + 32, dealt.begin() + w * 32);
    }
    sorted = device_copy(dealt);
    out = device_floats(THREADS);
}

static Register one({"P75", prepare, [] { work_a<<<THREADS / 128, 128>>>(mixed, out); },
                     [] { work_a<<<THREADS / 128, 128>>>(sorted, out); }});
