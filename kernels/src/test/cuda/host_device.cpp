// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of engine.cu and symmetric.cu on CPU threads for Java tests. HostKernels calls them
// by name, like the driver. The serving kernel runs with one thread for each block.

#include <jni.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test_support.h"

// Replacements for what engine.cu uses of a CUDA compiler.
struct Index {
    uint32_t x;
};
thread_local Index blockIdx;
thread_local Index threadIdx;
thread_local Index blockDim;
thread_local Index gridDim;
#define __global__
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(threads)
static void __syncthreads() {}
static void __syncwarp() {}
static uint64_t __shfl_up_sync(uint32_t, uint64_t value, uint32_t) { return value; }
static uint64_t __shfl_sync(uint32_t, uint64_t value, uint32_t) { return value; }
static bool __all_sync(uint32_t, bool value) { return value; }
static uint32_t __ballot_sync(uint32_t, bool value) { return value ? 1 : 0; }
static int __popc(uint32_t value) { return __builtin_popcount(value); }
static void atomicAdd(unsigned long long* at, unsigned long long value) {
    __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
template <typename T>
static void atomicMax(T* at, T value) {
    T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(at, &seen, value, false, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}
static void atomicMin(long long* at, long long value) {
    long long seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (seen > value && !__atomic_compare_exchange_n(at, &seen, value, false, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}

#include "../../main/cuda/engine/engine.cu"
#include "../../main/cuda/symmetric/symmetric.cu"

namespace {

using Arguments = std::vector<uint64_t>;

template <typename... Parameters, size_t... I>
void callWith(void (*kernel)(Parameters...), const Arguments& arguments,
              std::index_sequence<I...>) {
    kernel((Parameters)(arguments[I])...);
}

// Calls a kernel with parameters of 8 bytes each.
template <typename... Parameters>
void call(void (*kernel)(Parameters...), const Arguments& arguments) {
    callWith(kernel, arguments, std::index_sequence_for<Parameters...>{});
}

// Runs a part of a grid on this CPU thread.
template <typename Kernel>
void runPart(Kernel kernel, uint32_t blocks, uint32_t threads, const Arguments& arguments,
             uint32_t part, uint32_t parts) {
    gridDim.x = blocks;
    blockDim.x = threads;
    for (uint32_t thread = part; thread < blocks * threads; thread += parts) {
        blockIdx.x = thread / threads;
        threadIdx.x = thread % threads;
        call(kernel, arguments);
    }
}

// Runs the whole grid of a build kernel on a few CPU threads.
template <typename Kernel>
void runGrid(Kernel kernel, uint32_t blocks, uint32_t threads, const Arguments& arguments) {
    constexpr uint32_t WORKERS = 2;
    std::vector<std::thread> workers;
    for (uint32_t worker = 0; worker < WORKERS; worker++) {
        workers.emplace_back([=] { runPart(kernel, blocks, threads, arguments, worker, WORKERS); });
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
}

// Does the same for a kernel of symmetric joins. A block runs on this thread alone: tests join many
// short chunks.
template <typename Kernel>
void runShortGrid(Kernel kernel, uint32_t blocks, uint32_t threads, const Arguments& arguments) {
    if (blocks == 1) {
        runPart(kernel, blocks, threads, arguments, 0, 1);
    } else {
        runGrid(kernel, blocks, threads, arguments);
    }
}

// By device; HostKernels.DEVICES.
std::atomic<int> blocksServing[4];

void serveBlock(uint32_t device, Arguments a, uint32_t block, uint64_t blocks) {
    ServeArguments arguments{reinterpret_cast<Control*>(a[0]),
                             reinterpret_cast<StepEntry*>(a[1]),
                             reinterpret_cast<Grid*>(a[2]),
                             reinterpret_cast<uint64_t*>(a[3]),
                             reinterpret_cast<uint64_t*>(a[4]),
                             reinterpret_cast<const Plan*>(a[5]),
                             a[6],
                             a[7],
                             a[8],
                             blocks};
    ThreadGroup::Shared alone(1);
    ThreadGroup group(alone, 0);
    auto shared = std::make_unique<StepShared>();
    serve(group, arguments, block, *shared);
    blocksServing[device]--;
}

bool launch(uint32_t device, const std::string& name, uint32_t blocks, uint32_t threads,
            const Arguments& a) {
#define KERNEL(kernel) \
    if (name == #kernel) return runGrid(kernel, blocks, threads, a), true
    KERNEL(gpujoin_insert_unique);
    KERNEL(gpujoin_count_shard);
    KERNEL(gpujoin_insert_chained);
    KERNEL(gpujoin_group_count);
    KERNEL(gpujoin_group_allocate);
    KERNEL(gpujoin_group_write);
    KERNEL(gpujoin_payload_ranges);
    KERNEL(gpujoin_change_claim);
    KERNEL(gpujoin_change_settle);
    KERNEL(gpujoin_count_rows);
    KERNEL(gpujoin_move_rows);
    KERNEL(gpujoin_read_references);
    KERNEL(gpujoin_write_references);
#define MATCH_KERNEL(kernel) \
    if (name == #kernel) return runShortGrid(kernel, blocks, threads, a), true
    MATCH_KERNEL(gpujoin_match_probe);
    MATCH_KERNEL(gpujoin_match_publish);
    MATCH_KERNEL(gpujoin_match_add);
    MATCH_KERNEL(gpujoin_match_claim_removals);
    MATCH_KERNEL(gpujoin_match_settle_removals);
    MATCH_KERNEL(gpujoin_match_count_slots);
    MATCH_KERNEL(gpujoin_match_move_slots);
    MATCH_KERNEL(gpujoin_match_copy);
    if (name != "gpujoin_serve") {
        return false;
    }
    blocksServing[device] += static_cast<int>(blocks);
    for (uint32_t block = 0; block < blocks; block++) {
        std::thread(serveBlock, device, a, block, blocks).detach();
    }
    return true;
}

}  // namespace

extern "C" JNIEXPORT jboolean JNICALL Java_io_github_gpujoin_kernels_gpu_HostKernels_launch(
    JNIEnv* env, jclass, jint device, jstring kernel, jint blocks, jint threads,
    jlongArray arguments) {
    const char* chars = env->GetStringUTFChars(kernel, nullptr);
    std::string name(chars);
    env->ReleaseStringUTFChars(kernel, chars);
    Arguments copied(static_cast<size_t>(env->GetArrayLength(arguments)));
    env->GetLongArrayRegion(arguments, 0, static_cast<jsize>(copied.size()),
                            reinterpret_cast<jlong*>(copied.data()));
    return launch(static_cast<uint32_t>(device), name, static_cast<uint32_t>(blocks),
                  static_cast<uint32_t>(threads), copied);
}

extern "C" JNIEXPORT jboolean JNICALL
Java_io_github_gpujoin_kernels_gpu_HostKernels_haveEnded(JNIEnv*, jclass, jint device) {
    return blocksServing[device] == 0;
}
