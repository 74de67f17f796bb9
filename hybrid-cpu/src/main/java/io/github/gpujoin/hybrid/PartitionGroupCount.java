// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.TableMemory;
import java.util.function.IntToLongFunction;

/**
 * Chooses the number of partition groups that a build side is divided into.
 *
 * <p>The count is one if all tables fit the fastest tier, because one large table is probed faster
 * than many small ones, and by all members of a device group. Otherwise a group is at most about a
 * sixteenth of the memory that it may use, so that little of that stays unused. The largest group
 * fits there too, unless one partition alone does not.
 */
final class PartitionGroupCount {

    /** Smallest number of groups if there is more than one. */
    static final int MIN_COUNT = 16;

    private PartitionGroupCount() {}

    /**
     * Chooses a count by memory.
     *
     * @param neededBytes peak memory to build the tables of the whole build side
     * @param memory of the fastest tier
     * @param partitions radix partitions; a group has at least one
     * @param largestBytes peak memory to build the tables of the largest of so many groups
     * @return a power of two, or {@code partitions} if there are fewer than 16
     */
    static int choose(
            long neededBytes, TableMemory memory, int partitions, IntToLongFunction largestBytes) {
        if (neededBytes <= memory.spreadBytes()) {
            return 1;
        }
        long wanted = MIN_COUNT * Math.max(1, neededBytes / Math.max(1, memory.groupBytes()));
        int count = roundUp(wanted, partitions);
        boolean fitsOfOne = largestBytes.applyAsLong(partitions) <= memory.groupBytes();
        while (fitsOfOne
                && largestBytes.applyAsLong(count) > memory.groupBytes()
                && roundUp(2L * count, partitions) > count) {
            count = roundUp(2L * count, partitions);
        }
        return count;
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
