/*
id: P214
tool: ncu
title: Softening written without an f
planted: 1e-9 and 1.5 are doubles, so that the inner loop of an n-body step runs in FP64
cure: FP32 literals and rsqrtf
expect: [precision/fp64-arithmetic]
remains: {occupancy/small-grid: two blocks of four warps per SM leave half of the issue slots empty}
wrong: coalescing; occupancy
*/
#include "../../harness/kernels.cuh"

static float4 *bodies, *forces;
constexpr int N = 1 << 15;

template <bool wide>
static __global__ void step(const float4* bodies, float4* forces) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    __shared__ float4 tile[128];
    for (int base = 0; base < N; base += 128) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 128; ++k) {
            float4 other = tile[k];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float pull;
            if (wide) {
                double d = dx * dx + dy * dy + dz * dz + 1e-9;
                pull = other.w / (d * sqrt(d) * 1.0);
            } else {
                float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f);
                pull = other.w * r * r * r;
            }
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    forces[i] = make_float4(ax, ay, az, 0.f);
}

static Register one({"P214",
                     [] {
                         bodies = reinterpret_cast<float4*>(device_floats(4 * N));
                         forces = reinterpret_cast<float4*>(device_floats(4 * N));
                         compare(reinterpret_cast<float*>(forces), 4 * N);
                     },
                     [] { step<true><<<N / 128, 128>>>(bodies, forces); },
                     [] { step<false><<<N / 128, 128>>>(bodies, forces); }});
