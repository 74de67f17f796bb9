// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.ProbeQueue;

/** An in-flight probe with its partition group. */
final class HybridProbe extends ProbeQueue.Probe {

    private final PartitionGroup partitionGroup;
    private final int firstPartition;
    private final int endPartition;
    private boolean isSubmitted;

    /**
     * @param partition of the chunk; ignored if the chunk spans all partitions of the group
     */
    HybridProbe(InFlightProbe pending, PartitionGroup partitionGroup, int partition) {
        super(pending);
        this.partitionGroup = partitionGroup;
        boolean many = pending.chunk().hasManyPartitions();
        this.firstPartition = many ? partitionGroup.firstPartition() : partition;
        this.endPartition = many ? partitionGroup.endPartition() : partition + 1;
    }

    PartitionGroup partitionGroup() {
        return partitionGroup;
    }

    /** Returns the first partition that the chunk may have rows of. */
    int firstPartition() {
        return firstPartition;
    }

    /** Returns the partition after the last one that the chunk may have rows of. */
    int endPartition() {
        return endPartition;
    }

    boolean isSubmitted() {
        return isSubmitted;
    }

    void markSubmitted() {
        isSubmitted = true;
        partitionGroup.addSubmitted();
    }

    void clearSubmitted() {
        isSubmitted = false;
    }
}
