// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The skew demo: a star join over facts of increasing skew, and a report of the time that each
 * thread or block was busy. Start with {@link io.github.gpujoin.benchmarks.skew.SkewDemo}.
 */
package io.github.gpujoin.benchmarks.skew;
