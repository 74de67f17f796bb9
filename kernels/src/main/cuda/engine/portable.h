// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Atomic operations that run as device code and, in tests, on the CPU. Their names state order and
// scope.
#pragma once

#include <cstdint>
#include <thread>

#include "attributes.h"

#if __has_include(<cuda/atomic>)
#include <cuda/atomic>
#define GPUJOIN_LIBCUDACXX 1
#endif

namespace gpujoin {

#if defined(GPUJOIN_LIBCUDACXX)
template <typename T>
using SystemAtomic = cuda::atomic_ref<T, cuda::thread_scope_system>;
template <typename T>
using DeviceAtomic = cuda::atomic_ref<T, cuda::thread_scope_device>;
#endif

// System scope: synchronizes with the CPU, or with another thread of a test.

template <typename T>
GPUJOIN_HD inline T loadAcquireSystem(T* at) {
#if defined(GPUJOIN_LIBCUDACXX)
    return SystemAtomic<T>(*at).load(cuda::memory_order_acquire);
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

template <typename T>
GPUJOIN_HD inline T loadRelaxedSystem(T* at) {
#if defined(GPUJOIN_LIBCUDACXX)
    return SystemAtomic<T>(*at).load(cuda::memory_order_relaxed);
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

// Loads two adjacent words, each relaxed, in one read over the bus.
GPUJOIN_HD inline void loadPairRelaxedSystem(uint64_t* at, uint64_t& first, uint64_t& second) {
#if defined(__CUDA_ARCH__)
    asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(at)
                 : "memory");
#else
    first = loadRelaxedSystem(at);
    second = loadRelaxedSystem(at + 1);
#endif
}

// Later reads are at least as new as what earlier relaxed loads have seen.
GPUJOIN_HD inline void fenceAcquireSystem() {
#if defined(GPUJOIN_LIBCUDACXX)
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

template <typename T>
GPUJOIN_HD inline void storeReleaseSystem(T* at, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    SystemAtomic<T>(*at).store(value, cuda::memory_order_release);
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

template <typename T>
GPUJOIN_HD inline void storeRelaxedSystem(T* at, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    SystemAtomic<T>(*at).store(value, cuda::memory_order_relaxed);
#else
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
#endif
}

// Device scope: synchronizes blocks with each other.

template <typename T>
GPUJOIN_HD inline T loadAcquireDevice(T* at) {
#if defined(GPUJOIN_LIBCUDACXX)
    return DeviceAtomic<T>(*at).load(cuda::memory_order_acquire);
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

template <typename T>
GPUJOIN_HD inline void storeReleaseDevice(T* at, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    DeviceAtomic<T>(*at).store(value, cuda::memory_order_release);
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

// Earlier writes are visible to threads that acquire what later relaxed stores write.
GPUJOIN_HD inline void fenceReleaseDevice() {
#if defined(GPUJOIN_LIBCUDACXX)
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
#else
    __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

template <typename T>
GPUJOIN_HD inline T exchangeAcquireDevice(T* at, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    return DeviceAtomic<T>(*at).exchange(value, cuda::memory_order_acquire);
#else
    return __atomic_exchange_n(at, value, __ATOMIC_ACQUIRE);
#endif
}

// Device scope, relaxed: only the value itself is shared; the end of the kernel orders the rest.

template <typename T>
GPUJOIN_HD inline T fetchAddRelaxedDevice(T* at, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    return DeviceAtomic<T>(*at).fetch_add(value, cuda::memory_order_relaxed);
#else
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
#endif
}

// These two use compiler intrinsics, which need no register for the previous value.

GPUJOIN_HD inline void orRelaxedDevice(uint32_t* at, uint32_t bits) {
#if defined(__CUDA_ARCH__)
    atomicOr(at, bits);
#else
    __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
#endif
}

GPUJOIN_HD inline void andRelaxedDevice(uint32_t* at, uint32_t bits) {
#if defined(__CUDA_ARCH__)
    atomicAnd(at, bits);
#else
    __atomic_fetch_and(at, bits, __ATOMIC_RELAXED);
#endif
}

template <typename T>
GPUJOIN_HD inline T loadRelaxedDevice(T* at) {
#if defined(GPUJOIN_LIBCUDACXX)
    return DeviceAtomic<T>(*at).load(cuda::memory_order_relaxed);
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

// Loads a word that other threads may change at the same time; it may be older than what the same
// thread has read before.
GPUJOIN_HD inline uint32_t loadCached(const uint32_t* at) {
#if defined(__CUDA_ARCH__)
    return __ldca(at);
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

template <typename T>
GPUJOIN_HD inline void storeRelaxedDevice(T* at, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    DeviceAtomic<T>(*at).store(value, cuda::memory_order_relaxed);
#else
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
#endif
}

template <typename T>
GPUJOIN_HD inline T exchangeRelaxedDevice(T* at, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    return DeviceAtomic<T>(*at).exchange(value, cuda::memory_order_relaxed);
#else
    return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
#endif
}

// Returns the previous value, which is `expected` if the exchange succeeded.
template <typename T>
GPUJOIN_HD inline T compareExchangeRelaxedDevice(T* at, T expected, T value) {
#if defined(GPUJOIN_LIBCUDACXX)
    DeviceAtomic<T>(*at).compare_exchange_strong(expected, value, cuda::memory_order_relaxed,
                                                 cuda::memory_order_relaxed);
#else
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
    return expected;
}

// Block scope: synchronizes the threads of a step, in shared memory.

// These two use compiler intrinsics, which recognize shared memory.

GPUJOIN_HD inline uint32_t fetchAddRelaxedBlock(uint32_t* at, uint32_t value) {
#if defined(__CUDA_ARCH__)
    return atomicAdd_block(at, value);
#else
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
#endif
}

// Acquires and releases. Returns the previous value, which is `expected` if the exchange succeeded.
GPUJOIN_HD inline uint32_t compareExchangeBlock(uint32_t* at, uint32_t expected, uint32_t value) {
#if defined(__CUDA_ARCH__)
    __threadfence_block();
    uint32_t before = atomicCAS_block(at, expected, value);
    __threadfence_block();
    return before;
#else
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
#endif
}

GPUJOIN_HD inline void backOff(uint32_t nanoseconds) {
#if defined(__CUDA_ARCH__)
    __nanosleep(nanoseconds);
#else
    (void)nanoseconds;
    std::this_thread::yield();
#endif
}

// Returns the clock of the device in nanoseconds; 0 on the CPU.
GPUJOIN_HD inline uint64_t nanoTime() {
    uint64_t now = 0;
#if defined(__CUDA_ARCH__)
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
#endif
    return now;
}

template <typename T>
GPUJOIN_HD inline T least(T a, T b) {
    return a < b ? a : b;
}

}  // namespace gpujoin
