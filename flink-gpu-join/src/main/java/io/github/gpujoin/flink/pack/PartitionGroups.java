// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.jspecify.annotations.Nullable;

/**
 * Which rows a packer puts into one chunk: all of them, those of one radix partition, or those of
 * one receiving subtask, which owns a range of partitions. Immutable.
 */
final class PartitionGroups {

    private final int partitions;
    private final int receivers;
    private final int @Nullable [] groupOf;

    private PartitionGroups(int partitions, int receivers) {
        this.partitions = partitions;
        this.receivers = receivers;
        this.groupOf = receivers == 0 ? null : new int[partitions];
        for (int partition = 0; receivers > 0 && partition < partitions; partition++) {
            groupOf[partition] =
                    KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                            partitions, receivers, partition);
        }
    }

    /**
     * @param partitions 0 for one group of all rows
     */
    static PartitionGroups ofPartitions(int partitions) {
        return new PartitionGroups(partitions, 0);
    }

    /**
     * @param receivers number of subtasks that own the partitions, as Flink assigns key groups
     */
    static PartitionGroups ofReceivers(int partitions, int receivers) {
        return new PartitionGroups(partitions, receivers);
    }

    int count() {
        return Math.max(1, receivers == 0 ? partitions : receivers);
    }

    /** Radix partitions of all groups. */
    int partitions() {
        return partitions;
    }

    /** Group of each partition; null if each partition is the group of its number. */
    int[] table() {
        return groupOf;
    }

    /** Group of the rows of a key. */
    int of(long key) {
        int partition = RowPartitioner.of(key, partitions);
        return groupOf == null ? partition : groupOf[partition];
    }

    /** Seals the rows of a group. */
    Chunk seal(ChunkBuilder builder, int dimension, int group, long epoch, long sequence) {
        if (partitions == 0) {
            return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, epoch, sequence);
        }
        if (receivers == 0) {
            return builder.seal(dimension, group, epoch, sequence);
        }
        int first =
                KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                                partitions, receivers, group)
                        .getStartKeyGroup();
        return builder.sealMany(dimension, first, epoch, sequence);
    }
}
