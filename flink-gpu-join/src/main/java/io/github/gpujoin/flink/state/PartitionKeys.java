// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.KeyGroupTable;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.util.MathUtils;

/**
 * Maps chunks to state keys in one subtask. Radix partition p is key group p, so a partition's
 * chunks move with its key group when the job is rescaled. Chunks without a partition are spread
 * over the subtask's own key groups, so that a later rescaling spreads them too. Not thread-safe.
 */
public final class PartitionKeys {

    private final KeyGroupTable table;
    private final KeyGroupRange range;
    private final int partitions;
    private int nextGroup;

    /**
     * Creates the keys of a subtask.
     *
     * @param maxParallelism number of key groups, and so of partitions
     */
    public PartitionKeys(int maxParallelism, int parallelism, int subtaskIndex) {
        this.table = tableFor(maxParallelism);
        this.partitions = maxParallelism;
        this.range =
                KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                        maxParallelism, parallelism, subtaskIndex);
        this.nextGroup = range.getStartKeyGroup();
    }

    /**
     * Returns the keys of the subtask of a join.
     *
     * @param partitions number of partitions for which the join was built
     * @throws IllegalStateException if the maximum parallelism is another number
     */
    public static PartitionKeys of(TaskInfo task, int partitions) {
        int maxParallelism = task.getMaxNumberOfParallelSubtasks();
        if (maxParallelism != partitions) {
            throw new IllegalStateException(
                    "Maximum parallelism changed after the join was built: partitions=%d, maxParallelism=%d. Set it before."
                            .formatted(partitions, maxParallelism));
        }
        return new PartitionKeys(
                maxParallelism, task.getNumberOfParallelSubtasks(), task.getIndexOfThisSubtask());
    }

    /** Returns a key for each partition, of which there are as many as key groups. */
    public static KeyGroupTable tableFor(int maxParallelism) {
        return KeyGroupTable.of(
                maxParallelism,
                key -> KeyGroupRangeAssignment.assignToKeyGroup(key, maxParallelism));
    }

    /** Returns the partitions that this subtask owns, as key groups. */
    public KeyGroupRange ownPartitions() {
        return range;
    }

    /** Returns the number of partitions of all subtasks together. */
    int partitions() {
        return partitions;
    }

    /**
     * Returns the state key of a partition.
     *
     * @throws IllegalArgumentException if this subtask does not own the partition
     */
    public int keyOf(int partition) {
        if (!range.contains(partition)) {
            throw new IllegalArgumentException(
                    "A chunk arrived at a subtask that does not own its partition: partition="
                            + partition
                            + ", own="
                            + range);
        }
        return table.keyOf(partition);
    }

    /**
     * Returns the key of the chunk's partition. For a chunk without a partition, each call returns
     * the key of the next own key group in rotation.
     *
     * @throws IllegalArgumentException if this subtask does not own the chunk's partition
     */
    public int nextKeyFor(Chunk chunk) {
        if (chunk.partition() != ChunkDescriptor.UNPARTITIONED) {
            return keyOf(chunk.partition());
        }
        int group = nextGroup;
        nextGroup = group == range.getEndKeyGroup() ? range.getStartKeyGroup() : group + 1;
        return table.keyOf(group);
    }

    /**
     * Returns the partition under which a chunk of a replicated dimension is logged: its own, or
     * one computed from its sequence if it has none.
     *
     * @param partitions number of partitions of all subtasks
     */
    public static int partitionOf(Chunk chunk, int partitions) {
        return chunk.partition() == ChunkDescriptor.UNPARTITIONED
                ? MathUtils.murmurHash((int) chunk.sequence()) % partitions
                : chunk.partition();
    }
}
