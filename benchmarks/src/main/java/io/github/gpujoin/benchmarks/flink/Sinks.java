// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

/**
 * Sinks of a measured job.
 *
 * @param rowsPerSecond total rate of all sinks; 0 for no limit
 * @param rows whether results are records rather than chunks
 * @param apart whether sinks are tasks of their own rather than chained to the join
 * @param fanOut results of each probe row
 */
public record Sinks(double rowsPerSecond, boolean rows, boolean apart, int fanOut) {}
