/*
id: P211
tool: ncu
title: Monte Carlo with a generator set up for every thread
planted: curand_init skips ahead a sequence per thread for XORWOW, which takes longer than the numbers
cure: Philox, whose sequences start at a counter
expect: [latency/random-state-setup]
remains: {memory/uncoalesced-global-access: each thread still writes a state of 64 bytes of its own}
wrong: precision; coalescing
*/
#include "../../harness/kernels.cuh"

#include <curand_kernel.h>

static float* out;
constexpr int N = 1 << 20;

template <typename State>
static __global__ void init_states(State* states, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);
}

template <typename State>
static __global__ void walk(State* states, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    State state = states[i];
    float total = 0.f;
    for (int k = 0; k < 64; ++k) total += curand_uniform(&state);
    out[i] = total;
    states[i] = state;
}

template <typename State>
static void run(void* states) {
    init_states<State><<<N / 256, 256>>>(static_cast<State*>(states), 1234);
    walk<State><<<N / 256, 256>>>(static_cast<State*>(states), out);
}

static void* states;
static Register one({"P211",
                     [] { states = device_bytes(sizeof(curandStatePhilox4_32_10_t) * size_t(N)); out = device_floats(N); },
                     [] { run<curandStateXORWOW_t>(states); },
                     [] { run<curandStatePhilox4_32_10_t>(states); }});
