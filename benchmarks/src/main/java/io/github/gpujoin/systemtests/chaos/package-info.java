// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Chaos tests: runs a job on a cluster of processes, kills and cuts them by a seeded plan, and
 * compares the rows of its sink with those of DuckDB. Start with {@link
 * io.github.gpujoin.systemtests.chaos.Chaos}.
 */
package io.github.gpujoin.systemtests.chaos;
