// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import java.io.Serializable;
import java.util.Map;

/**
 * Describes a symmetric join for its operator. Serialized with the job.
 *
 * @param plan what the join joins
 * @param spillDelayMs how long rows of partitions that exceed memory wait for their tables
 * @param partitions number of radix partitions, which equals the number of key groups
 * @param properties what rows in state mean, by name; a restore compares them
 */
public record SymmetricJoinSettings(
        SymmetricJoinPlan plan,
        SymmetricJoinOpener joins,
        long spillDelayMs,
        int partitions,
        Map<String, String> properties)
        implements Serializable {}
