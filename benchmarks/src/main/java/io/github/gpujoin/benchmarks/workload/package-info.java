// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The generated tuples that all contenders join, and the expected result. Start with {@link
 * io.github.gpujoin.benchmarks.workload.Tuples}.
 */
package io.github.gpujoin.benchmarks.workload;
