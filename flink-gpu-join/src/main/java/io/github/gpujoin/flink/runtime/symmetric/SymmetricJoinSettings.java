// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import java.io.Serializable;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Describes a regular join for its operator. Serialized with the job.
 *
 * @param spillDelayMs how long rows of partitions that exceed memory wait for their tables
 * @param partitions number of radix partitions, which equals the number of key groups
 * @param condition that rows with equal keys must meet to match; null for none
 * @param leftColumns number of columns of the left rows that the condition receives
 * @param rightColumns number of columns of the right rows that the condition receives
 * @param properties what rows in state mean, by name; a restore compares them
 */
public record SymmetricJoinSettings(
        SymmetricJoinSpec spec,
        SymmetricJoinOpener joins,
        long spillDelayMs,
        int partitions,
        RowPairCondition.@Nullable Factory condition,
        int leftColumns,
        int rightColumns,
        Map<String, String> properties)
        implements Serializable {}
