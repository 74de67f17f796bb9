// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The queries of the star schema benchmark over files: this join, DuckDB and Flink SQL on the same
 * files. Start with {@link io.github.gpujoin.benchmarks.ssb.SsbRun}.
 */
package io.github.gpujoin.benchmarks.ssb;
