// Runs the registered CUDA cases: `kernels time [ID...]` prints one JSON line per variant, `kernels profile [ID...]`
// launches each variant once inside an NVTX range "ID a" (bad) or "ID b" (cured) between cudaProfilerStart and Stop.
#include "kernels.cuh"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int WARM_UP = 3;
constexpr int REPEATS = 15;
std::vector<void*> buffers;
const float* result = nullptr;
size_t result_count = 0;

__device__ uint32_t mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

__global__ void fill_floats(float* data, size_t count, float low, float high, uint32_t seed) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = low + (high - low) * (mix(uint32_t(i) + seed) >> 8) * (1.f / 16777216.f);
}

__global__ void fill_ints(uint32_t* data, size_t count, uint32_t bound, uint32_t seed) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = uint32_t((uint64_t(mix(uint32_t(i) * 2654435761u + seed)) * bound) >> 32);
}

uint32_t next_seed() {
    static uint32_t seed = 12345;
    return seed += 777767777u;
}

std::vector<float> download() {
    std::vector<float> values(result_count);
    if (result_count) CHECK(cudaMemcpy(values.data(), result, result_count * sizeof(float), cudaMemcpyDeviceToHost));
    return values;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double distance = 0, norm = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        distance += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
        norm += double(b[i]) * b[i];
    }
    return norm > 0 ? std::sqrt(distance / norm) : -1;
}

std::vector<float> run_once(const std::function<void()>& run) {
    if (result_count) CHECK(cudaMemset(const_cast<float*>(result), 0xff, result_count * sizeof(float)));
    run();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return download();
}

void time_variant(const Case& one, const char* variant, const std::function<void()>& run, double agreement) {
    for (int i = 0; i < WARM_UP; ++i) run();
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::printf("{\"id\": \"%s\", \"variant\": \"%s\", \"clock\": \"event\", \"difference\": %.3g, \"us\": [",
                one.id.c_str(), variant, agreement);
    for (int i = 0; i < REPEATS; ++i) {
        CHECK(cudaEventRecord(start));
        run();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        std::printf("%s%.3f", i ? ", " : "", ms * 1000);
    }
    std::printf("]}\n");
    std::fflush(stdout);
}

void time_case(const Case& one) {
    double agreement = -1;
    if (one.bad) {
        std::vector<float> a = run_once(one.bad), b = run_once(one.good);
        agreement = difference(a, b);
        time_variant(one, "bad", one.bad, agreement);
    }
    time_variant(one, one.bad ? "good" : "control", one.good, agreement);
}

void profile_variant(const Case& one, const char* letter, const std::function<void()>& run) {
    run();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaProfilerStart());
    nvtxRangePushA((one.id + " " + letter).c_str());
    run();
    CHECK(cudaDeviceSynchronize());
    nvtxRangePop();
    CHECK(cudaProfilerStop());
}

}  // namespace

std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

void* device_bytes(size_t bytes) {
    void* data = nullptr;
    CHECK(cudaMalloc(&data, bytes));
    buffers.push_back(data);
    return data;
}

float* device_floats(size_t count, float low, float high) {
    float* data = static_cast<float*>(device_bytes(count * sizeof(float)));
    fill_floats<<<1024, 256>>>(data, count, low, high, next_seed());
    return data;
}

uint32_t* device_ints(size_t count, uint32_t bound) {
    uint32_t* data = static_cast<uint32_t*>(device_bytes(count * sizeof(uint32_t)));
    fill_ints<<<1024, 256>>>(data, count, bound, next_seed());
    return data;
}

void compare(const float* data, size_t count) {
    result = data;
    result_count = count;
}

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "time";
    std::vector<std::string> wanted(argv + std::min(argc, 2), argv + argc);
    std::sort(cases().begin(), cases().end(), [](const Case& a, const Case& b) { return a.id < b.id; });
    for (const Case& one : cases()) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), one.id) == wanted.end()) continue;
        compare(nullptr, 0);
        one.setup();
        CHECK(cudaDeviceSynchronize());
        if (mode == "time") time_case(one);
        if (mode == "profile") {
            if (one.bad) profile_variant(one, "a", one.bad);
            profile_variant(one, "b", one.good);
        }
        for (void* buffer : buffers) CHECK(cudaFree(buffer));
        buffers.clear();
    }
    return 0;
}
