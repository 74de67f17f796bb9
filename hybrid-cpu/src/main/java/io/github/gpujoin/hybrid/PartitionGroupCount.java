// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * Chooses the number of partition groups that a build side is divided into.
 *
 * <p>The count is one if all tables fit the fastest tier, because one large table is probed faster
 * than many small ones. Otherwise a group is at most about a sixteenth of the budget, so that
 * little of the budget stays unused.
 */
final class PartitionGroupCount {

    /** Smallest number of groups if there is more than one. */
    static final int MIN_COUNT = 16;

    private PartitionGroupCount() {}

    /**
     * Chooses a count by memory.
     *
     * @param neededBytes peak memory to build the tables of the whole build side
     * @param budgetBytes of the fastest tier
     * @param partitions radix partitions; a group has at least one
     * @return a power of two, or {@code partitions} if there are fewer than 16
     */
    static int choose(long neededBytes, long budgetBytes, int partitions) {
        if (neededBytes <= budgetBytes) {
            return 1;
        }
        long wanted = MIN_COUNT * Math.max(1, neededBytes / Math.max(1, budgetBytes));
        return roundUp(wanted, partitions);
    }

    /** Rounds up to a power of two of at least 16, limited by the number of partitions. */
    static int roundUp(long wanted, int partitions) {
        int max = partitions < MIN_COUNT ? partitions : Integer.highestOneBit(partitions);
        long groups = MIN_COUNT;
        while (groups < wanted && groups < max) {
            groups *= 2;
        }
        return (int) Math.min(groups, max);
    }
}
