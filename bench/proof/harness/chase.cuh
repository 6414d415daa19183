// Dependent loads: a warp reads a coalesced row of 128 bytes and finds the number of its next row there.
#pragma once

#include "kernels.cuh"

constexpr uint32_t ROWS = 1u << 21;  // 256 MB of rows: misses L2
inline uint32_t* chase_rows() { return device_ints(size_t(ROWS) * 32, ROWS); }

__device__ inline float hop(const uint32_t* rows, uint32_t& row) {
    uint32_t value = rows[size_t(row) * 32 + (threadIdx.x & 31)];
    row = __shfl_sync(~0u, value, 0);
    return value * (1.f / ROWS);
}

__device__ inline uint32_t first_row(uint32_t number) { return number * 2654435761u % ROWS; }
