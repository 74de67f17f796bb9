// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import java.util.ArrayList;
import java.util.List;

/**
 * The division of the radix partitions of a subtask into groups of adjacent ones. Immutable, but
 * the groups are not.
 */
final class PartitionGroups {

    /** Before the division. */
    static final PartitionGroups NONE = new PartitionGroups(List.of(), new int[0]);

    private final List<PartitionGroup> groups;
    private final int[] groupOfPartition;

    private PartitionGroups(List<PartitionGroup> groups, int[] groupOfPartition) {
        this.groups = groups;
        this.groupOfPartition = groupOfPartition;
    }

    /** Divides the partitions into groups of about equal numbers of them. */
    static PartitionGroups divide(PartitionBuildBytes rows, int firstPartition, int count) {
        List<PartitionGroup> groups = new ArrayList<>();
        int[] groupOfPartition = new int[rows.partitionCount()];
        for (int u = 0; u < count; u++) {
            int first = start(u, count, rows.partitionCount());
            int end = start(u + 1, count, rows.partitionCount());
            groups.add(
                    new PartitionGroup(
                            u,
                            firstPartition + first,
                            firstPartition + end,
                            rows.bytes(first, end)));
            for (int p = first; p < end; p++) {
                groupOfPartition[p] = u;
            }
        }
        return new PartitionGroups(List.copyOf(groups), groupOfPartition);
    }

    /** Returns the build bytes of the largest group of a division. */
    static long largestBytes(PartitionBuildBytes rows, int count) {
        long largest = 0;
        for (int u = 0; u < count; u++) {
            largest =
                    Math.max(
                            largest,
                            rows.bytes(
                                    start(u, count, rows.partitionCount()),
                                    start(u + 1, count, rows.partitionCount())));
        }
        return largest;
    }

    private static int start(int group, int count, int partitions) {
        return (int) ((long) partitions * group / count);
    }

    List<PartitionGroup> all() {
        return groups;
    }

    /**
     * Returns the group of a partition.
     *
     * @param partition index relative to the first partition of this subtask
     */
    PartitionGroup ofPartition(int partition) {
        return groups.get(groupOfPartition[partition]);
    }
}
