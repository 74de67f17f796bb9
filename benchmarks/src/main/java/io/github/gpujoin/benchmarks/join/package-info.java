// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The join comparison: contenders, rounds, statistics and reports. Start with {@link
 * io.github.gpujoin.benchmarks.join.Rounds}, which runs all {@link
 * io.github.gpujoin.benchmarks.join.Contender contenders}.
 */
package io.github.gpujoin.benchmarks.join;
