// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Macros that let one source compile as device code and, in tests, for the CPU.
#pragma once

#if defined(__CUDACC__)
#define GPUJOIN_HD __host__ __device__
#define GPUJOIN_INLINE __host__ __device__ __forceinline__
#define GPUJOIN_NOINLINE __host__ __device__ __noinline__
#define GPUJOIN_UNROLL _Pragma("unroll")
#else
#define GPUJOIN_HD
#define GPUJOIN_INLINE inline
#define GPUJOIN_NOINLINE
#define GPUJOIN_UNROLL
#endif
