// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Joins of two Parquet files to a third: {@code bin/gpu-join} beside DuckDB. Start with {@link
 * io.github.gpujoin.benchmarks.files.JoinFiles}, which generates the files and checks results.
 */
package io.github.gpujoin.benchmarks.files;
