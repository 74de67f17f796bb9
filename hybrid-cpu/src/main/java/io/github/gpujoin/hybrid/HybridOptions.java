// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import java.util.concurrent.TimeUnit;

/**
 * Configures how a build side is divided into partition groups.
 *
 * @param partitionedDimension index of the dimension that is divided; the others are replicated
 * @param firstPartition first radix partition of this subtask
 * @param partitionCount radix partitions of this subtask, consecutive; chunks need no partition
 *     number if there is one
 * @param partitionGroupCount number of groups, 0 to {@value #MAX_PARTITION_GROUPS}; a number above
 *     {@code partitionCount} acts like it, and 0 chooses by memory
 * @param windowRows number of recent probe rows that decide about the tier of a group, at least 1
 * @param memoryWaitNs longest wait for host memory that a join needs and others hold
 */
public record HybridOptions(
        int partitionedDimension,
        int firstPartition,
        int partitionCount,
        int partitionGroupCount,
        long windowRows,
        long memoryWaitNs) {

    /** Largest number of partition groups that can be configured. */
    public static final int MAX_PARTITION_GROUPS = 128;

    private static final long DEFAULT_WINDOW_ROWS = 16L << 20;
    private static final long DEFAULT_MEMORY_WAIT_NS = TimeUnit.SECONDS.toNanos(30);

    /**
     * Checks the counts and the window.
     *
     * @throws IllegalArgumentException if one of them is out of range
     */
    public HybridOptions {
        if (partitionCount < 1 || windowRows < 1) {
            throw new IllegalArgumentException(
                    "Partitions or window not positive: partitions="
                            + partitionCount
                            + ", windowRows="
                            + windowRows);
        }
        if (partitionGroupCount < 0 || partitionGroupCount > MAX_PARTITION_GROUPS) {
            throw new IllegalArgumentException(
                    "Number of partition groups out of range 0 to "
                            + MAX_PARTITION_GROUPS
                            + ": partitionGroups="
                            + partitionGroupCount);
        }
    }

    /** Configures a window of 2^24 probe rows and a wait of 30 s. */
    public HybridOptions(
            int partitionedDimension,
            int firstPartition,
            int partitionCount,
            int partitionGroupCount) {
        this(
                partitionedDimension,
                firstPartition,
                partitionCount,
                partitionGroupCount,
                DEFAULT_WINDOW_ROWS,
                DEFAULT_MEMORY_WAIT_NS);
    }
}
