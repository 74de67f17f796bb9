// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Joins with a build side larger than memory. The CPU engine with memory for the whole build side
 * is the reference. Start with {@link io.github.gpujoin.benchmarks.hybrid.HybridBench}.
 */
package io.github.gpujoin.benchmarks.hybrid;
