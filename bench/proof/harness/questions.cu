// Questions only a device can answer: one conversion per thread and kernel, 2^20 threads, so that a counter divided by
// 2^20 says whether it sees the instruction. Profile with `ncu --metrics`; see docs/proof.md.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

constexpr int N = 1 << 20;

template <typename In, typename Out>
static __device__ void convert(const In* in, Out* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = static_cast<Out>(in[i]);
}

#define QUESTION(name, In, Out) \
    static __global__ void name(const void* in, void* out) { convert((const In*)in, (Out*)out); }

QUESTION(f32_to_f16, float, __half)
QUESTION(f16_to_f32, __half, float)
QUESTION(f32_to_bf16, float, __nv_bfloat16)
QUESTION(bf16_to_f32, __nv_bfloat16, float)
QUESTION(f32_to_fp8, float, __nv_fp8_e4m3)
QUESTION(fp8_to_f32, __nv_fp8_e4m3, float)
QUESTION(f32_to_f64, float, double)
QUESTION(f64_to_f32, double, float)
QUESTION(f32_to_i32, float, int32_t)
QUESTION(i32_to_f32, int32_t, float)
QUESTION(i8_to_f32, int8_t, float)
QUESTION(i64_to_f32, int64_t, float)

static __global__ void saxpy(const void* in, void* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ((float*)out)[i] = fmaf(2.f, ((const float*)in)[i], ((float*)out)[i]);
}

static __global__ void reduce(const void* in, void* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.f;
    for (int k = 0; k < 64; ++k) total += ((const float*)in)[(i + k * 4096) % N];
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(~0u, total, step);
    if (threadIdx.x % 32 == 0) atomicAdd((float*)out, total);
}

int main() {
    void *in, *out;
    if (cudaMalloc(&in, N * 8) || cudaMalloc(&out, N * 8) || cudaMemset(in, 1, N * 8)) return 1;
    void (*all[])(const void*, void*) = {f32_to_f16, f16_to_f32, f32_to_bf16, bf16_to_f32, f32_to_fp8,
                                         fp8_to_f32, f32_to_f64, f64_to_f32,  f32_to_i32,  i32_to_f32,
                                         i8_to_f32,  i64_to_f32, saxpy,       reduce};
    for (auto one : all) one<<<N / 256, 256>>>(in, out);
    return cudaDeviceSynchronize();
}
