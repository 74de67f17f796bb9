// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Metrics, logs and run reports of a subtask: counts, stage times, heavy hitters, fan-out, and the
 * plan as it runs.
 */
package io.github.gpujoin.flink.metrics;
