// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.runtime.expiry.DimensionTtl;
import io.github.gpujoin.flink.state.JoinColumns;
import java.io.Serializable;
import java.util.List;

/**
 * Describes the dimensions that a {@link ReplicaOperator} logs. Serialized with the job.
 *
 * @param spec of the join
 * @param partitions radix partitions, as many as there are key groups
 * @param ttls of replicated dimensions; each partition has its own log
 * @param lateRows treatment of rows that arrive after their dimension is complete
 * @param columns of {@code spec}, with their Flink types, which snapshots hold
 * @param partitionedDimension number of the partitioned dimension, -1 without one
 */
public record ReplicaSettings(
        JoinSpec spec,
        Replicas replicas,
        int partitions,
        List<DimensionTtl> ttls,
        LateRowPolicy lateRows,
        JoinColumns columns,
        int partitionedDimension)
        implements Serializable {}
