// What the CUDA cases share: registration, buffers with random data, timing, profiling ranges.
//
// A case file defines kernels with neutral names and registers one bad and one cured launch (or one launch, for a
// control). The same binary times them without a profiler (`time`) or marks them for one (`profile`).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                                     \
    do {                                                                                                \
        cudaError_t error = (call);                                                                     \
        if (error != cudaSuccess) {                                                                     \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
            std::exit(1);                                                                               \
        }                                                                                               \
    } while (0)

// Buffers of the running case; the runner frees them when the case ends.
float* device_floats(size_t count, float low = 0.f, float high = 1.f);
uint32_t* device_ints(size_t count, uint32_t bound);  // uniform in [0, bound)
template <typename T>
T* device_copy(const std::vector<T>& values);
void* device_bytes(size_t bytes);

// The buffer both variants must fill alike; compared after one run of each, relative to the norm.
void compare(const float* data, size_t count);

constexpr int SMS = 132;  // streaming multiprocessors of an H200

struct Case {
    std::string id;
    std::function<void()> setup, bad, good;  // a control has only `good`
};
std::vector<Case>& cases();
struct Register {
    explicit Register(Case one) { cases().push_back(std::move(one)); }
};

template <typename T>
T* device_copy(const std::vector<T>& values) {
    T* data = static_cast<T*>(device_bytes(values.size() * sizeof(T)));
    CHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return data;
}
