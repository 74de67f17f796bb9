// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Benchmarks of the GPU engine, each beside a ceiling of the machine such as its memory bandwidth.
 * Native programs and jobs write figures in one format. Start with {@link
 * io.github.gpujoin.benchmarks.gpu.GpuBench}.
 */
package io.github.gpujoin.benchmarks.gpu;
