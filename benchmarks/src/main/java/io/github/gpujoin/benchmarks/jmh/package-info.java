// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * JMH microbenchmarks of single steps of the join. Each is compared with a memory copy of the same
 * bytes. Start with {@link io.github.gpujoin.benchmarks.jmh.StepBenchmarks}.
 */
package io.github.gpujoin.benchmarks.jmh;
