/*
id: P22
tool: ncu
title: One field of an array of 32-byte structures
planted: the kernel needs 4 of every 32 bytes, but sectors come whole
cure: structure of arrays
expect: [memory/uncoalesced-global-access]
wrong: more occupancy; "at the DRAM roof, nothing to gain"
*/
#include "../../harness/kernels.cuh"

struct Body {
    float x, y, z, vx, vy, vz, mass, charge;
};
static float *bodies, *masses, *out;
constexpr int N = 1 << 25;

static __global__ void work_a(const Body* bodies, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 0.5f * bodies[i].mass;
}

static __global__ void work_b(const float* masses, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 0.5f * masses[i];
}

static Register one({"P22",
                     [] { bodies = device_floats(8ull * N); masses = device_floats(N); out = device_floats(N); },
                     [] { work_a<<<N / 256, 256>>>(reinterpret_cast<Body*>(bodies), out); },
                     [] { work_b<<<N / 256, 256>>>(masses, out); }});
