// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.KeyHash;
import java.util.Arrays;

/**
 * Sorts rows of a batch by the {@linkplain PartitionGroups group} of their key's radix partition: a
 * counting sort, stable, with loops over few arrays each. Afterwards each group's columns are
 * copied as runs of rows, which keeps the writes of a run in one place. Not thread-safe.
 *
 * <p>For each batch: {@link #sort(int[], int, long[])}; or {@link #begin}, then the group of each
 * row into {@link #groupOf} and one more in {@link #counts}, in the caller's loop over its keys,
 * then {@link #sort(int)}.
 */
final class RowPartitioner {

    private final PartitionGroups groups;
    private final int[] ends;
    private int[] groupOf = new int[0];
    private int[] sorted = new int[0];

    RowPartitioner(PartitionGroups groups) {
        this.groups = groups;
        this.ends = new int[groups.count() + 1];
    }

    /** Radix partition of a key. */
    static int of(long key, int partitions) {
        return KeyHash.partition(KeyHash.hash(key), partitions);
    }

    /** Makes room for a batch. */
    void begin(int rowCount) {
        if (groupOf.length < rowCount) {
            groupOf = new int[rowCount];
            sorted = new int[rowCount];
        }
        Arrays.fill(ends, 0);
    }

    PartitionGroups groups() {
        return groups;
    }

    /** Group of each row of the batch, to be filled in. */
    int[] groupOf() {
        return groupOf;
    }

    /** How many rows are of group g, at index g + 1; to be filled in. */
    int[] counts() {
        return ends;
    }

    /** Sorts the numbers from 0 to {@code rowCount - 1}. */
    void sort(int rowCount) {
        int[] next = starts();
        int[] groupOf = this.groupOf;
        int[] sorted = this.sorted;
        for (int i = 0; i < rowCount; i++) {
            sorted[next[groupOf[i]]++] = i;
        }
    }

    /**
     * Sorts the first {@code rowCount} of some row numbers.
     *
     * @param keys by row number
     */
    void sort(int[] rows, int rowCount, long[] keys) {
        begin(rowCount);
        int[] groupOf = this.groupOf;
        int[] counts = ends;
        int partitions = groups.partitions();
        int[] table = groups.table();
        for (int i = 0; i < rowCount; i++) {
            int partition = of(keys[rows[i]], partitions);
            int group = table == null ? partition : table[partition];
            groupOf[i] = group;
            counts[group + 1]++;
        }
        sort(rows, rowCount);
    }

    /** Sorts the first {@code rowCount} of some row numbers. */
    void sort(int[] rows, int rowCount) {
        int[] next = starts();
        for (int i = 0; i < rowCount; i++) {
            sorted[next[groupOf[i]]++] = rows[i];
        }
    }

    /** Makes counts into the starts of the groups; they are the ends when all is placed. */
    private int[] starts() {
        for (int g = 0; g + 1 < ends.length; g++) {
            ends[g + 1] += ends[g];
        }
        return ends;
    }

    /** The rows that were sorted, those of group 0 first. */
    int[] rows() {
        return sorted;
    }

    int start(int group) {
        return group == 0 ? 0 : ends[group - 1];
    }

    int end(int group) {
        return ends[group];
    }
}
