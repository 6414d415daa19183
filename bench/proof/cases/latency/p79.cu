/*
id: P79
tool: ncu
title: Images inverted byte by byte
planted: one byte per thread and load; too few bytes in flight for the bandwidth
cure: 16 bytes per thread
expect: [latency/stall-long-scoreboard, latency/stall-lg-throttle]
wrong: uncoalesced access (bytes are in order); occupancy
*/
#include "../../harness/kernels.cuh"

static uint32_t *in, *out;
constexpr size_t BYTES = 1ull << 28;

static __global__ void work_a(const unsigned char* in, unsigned char* out) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    out[i] = 255 - in[i];
}

static __global__ void work_b(const uint4* in, uint4* out) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    uint4 v = in[i];
    out[i] = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
}

static Register one({"P79", [] { in = device_ints(BYTES / 4, ~0u); out = device_ints(BYTES / 4, ~0u); },
                     [] {
                         work_a<<<BYTES / 256, 256>>>(reinterpret_cast<unsigned char*>(in),
                                                      reinterpret_cast<unsigned char*>(out));
                     },
                     [] {
                         work_b<<<BYTES / 16 / 256, 256>>>(reinterpret_cast<uint4*>(in), reinterpret_cast<uint4*>(out));
                     }});
