/*
id: P228
tool: ncu
title: Sparse rows of very different length, one block each
planted: eight rows have 2^20 entries, the other 2040 have 1024
cure: every block takes pieces of equal length
expect: [imbalance/sm-work-imbalance, occupancy/tail-effect]
remains: {latency/stall-long-scoreboard: 42 MB in 24 us is less than half of what the memory gives}
wrong: coalescing; precision
*/
#include "../../harness/kernels.cuh"

static float *values, *sums;
static int *starts, *owners, *begins;
static int pieces;
constexpr int ROWS = 2048, LONG = 1 << 20, SHORT = 1024, PIECE = 4096;

static __device__ void add_up(const float* values, int from, int to, float* sum) {
    float total = 0.f;
    for (int i = from + threadIdx.x; i < to; i += blockDim.x) total += values[i] * values[i];
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(~0u, total, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, total);
}

static __global__ void by_row(const float* values, const int* starts, float* sums) {
    add_up(values, starts[blockIdx.x], starts[blockIdx.x + 1], &sums[blockIdx.x]);
}

static __global__ void by_piece(const float* values, const int* starts, const int* owners, const int* begins, float* sums) {
    int row = owners[blockIdx.x], from = begins[blockIdx.x];
    add_up(values, from, min(from + PIECE, starts[row + 1]), &sums[row]);
}

static void setup() {
    std::vector<int> at{0}, owner, begin;
    for (int row = 0; row < ROWS; ++row) {
        int length = row % 256 == 0 ? LONG : SHORT;
        for (int from = 0; from < length; from += PIECE) {
            owner.push_back(row);
            begin.push_back(at.back() + from);
        }
        at.push_back(at.back() + length);
    }
    pieces = int(owner.size());
    values = device_floats(at.back());
    sums = device_floats(ROWS);
    starts = device_copy(at);
    owners = device_copy(owner);
    begins = device_copy(begin);
}

static Register one({"P228", setup,
                     [] { by_row<<<ROWS, 256>>>(values, starts, sums); },
                     [] { by_piece<<<pieces, 256>>>(values, starts, owners, begins, sums); }});
