// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Contenders that run in the process of the benchmark, without Flink: DuckDB and the engine alone.
 * Start with {@link io.github.gpujoin.benchmarks.local.EngineContender}.
 */
package io.github.gpujoin.benchmarks.local;
