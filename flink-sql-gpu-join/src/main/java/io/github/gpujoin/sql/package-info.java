// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Entry points: {@link io.github.gpujoin.sql.GpuJoin} for programs, and the planner factory for the
 * SQL client and the SQL gateway.
 */
package io.github.gpujoin.sql;
