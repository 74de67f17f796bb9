// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs of SQL over events in memory: a source of binary rows, a sink that adds up the materialised
 * result, and the planners' settings that are compared. Start with {@link
 * io.github.gpujoin.benchmarks.sql.SqlComparison}.
 */
package io.github.gpujoin.benchmarks.sql;
