// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

/**
 * Form and rate of the results of a measured job.
 *
 * @param rowsPerSecond limit of all sinks together; 0 for no limit
 * @param rows whether results are records instead of chunks
 * @param apart whether sinks are tasks of their own instead of chained to the join
 * @param fanOut results of each probe row, at least 1
 */
public record Sinks(double rowsPerSecond, boolean rows, boolean apart, int fanOut) {}
