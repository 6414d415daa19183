/*
id: C206
tool: ncu
title: Interaction of all pairs in FP32, tiles in shared memory
wrong: memory advice; precision; everything
*/
#include "../../harness/kernels.cuh"

static float4 *bodies, *forces;
constexpr int N = SMS * 1024;

static __global__ void pull(const float4* bodies, float4* forces) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    __shared__ float4 tile[256];
    for (int base = 0; base < N; base += 256) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < 256; ++k) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 1e-9f))));
            float s = tile[k].w * r * r * r;
            ax = fmaf(dx, s, ax);
            ay = fmaf(dy, s, ay);
            az = fmaf(dz, s, az);
        }
        __syncthreads();
    }
    forces[i] = make_float4(ax, ay, az, 0.f);
}

static Register one({"C206",
                     [] {
                         bodies = reinterpret_cast<float4*>(device_floats(4ull * N));
                         forces = reinterpret_cast<float4*>(device_floats(4ull * N));
                     },
                     nullptr, [] { pull<<<N / 256, 256>>>(bodies, forces); }});
