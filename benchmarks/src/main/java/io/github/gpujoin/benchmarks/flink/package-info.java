// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Contenders that run as Flink jobs: the GPU join and its peers in the DataStream API and SQL. They
 * share one source, one sink and one clock. Start with {@link
 * io.github.gpujoin.benchmarks.flink.FlinkContender}.
 */
package io.github.gpujoin.benchmarks.flink;
