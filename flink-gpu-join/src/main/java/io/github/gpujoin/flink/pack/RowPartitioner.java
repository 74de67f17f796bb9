package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.KeyHash;
import java.util.Arrays;

/**
 * Sorts rows of a batch by the radix partition of a key: a counting sort, stable, with loops over
 * few arrays each. Afterwards each partition's columns are copied as runs of rows, which keeps the
 * writes of a run in one place. Not thread-safe.
 *
 * <p>For each batch: {@link #begin}, then the {@link #of partition} of each row into {@link
 * #partitionOf} and one more in {@link #counts}, in the caller's loop over its keys, then {@link
 * #sort}.
 */
final class RowPartitioner {

    private final int partitions;
    private final int[] ends;
    private int[] partitionOf = new int[0];
    private int[] sorted = new int[0];

    RowPartitioner(int partitions) {
        this.partitions = partitions;
        this.ends = new int[partitions + 1];
    }

    /** Radix partition of a key. */
    static int of(long key, int partitions) {
        return KeyHash.partition(KeyHash.hash(key), partitions);
    }

    /** Makes room for a batch. */
    void begin(int rowCount) {
        if (partitionOf.length < rowCount) {
            partitionOf = new int[rowCount];
            sorted = new int[rowCount];
        }
        Arrays.fill(ends, 0);
    }

    int partitions() {
        return partitions;
    }

    /** Partition of each row of the batch, to be filled in. */
    int[] partitionOf() {
        return partitionOf;
    }

    /** How many rows are of partition p, at index p + 1; to be filled in. */
    int[] counts() {
        return ends;
    }

    /** Sorts the numbers from 0 to {@code rowCount - 1}. */
    void sort(int rowCount) {
        int[] next = starts();
        int[] partitionOf = this.partitionOf;
        int[] sorted = this.sorted;
        for (int i = 0; i < rowCount; i++) {
            sorted[next[partitionOf[i]]++] = i;
        }
    }

    /** Sorts the first {@code rowCount} of some row numbers. */
    void sort(int[] rows, int rowCount) {
        int[] next = starts();
        for (int i = 0; i < rowCount; i++) {
            sorted[next[partitionOf[i]]++] = rows[i];
        }
    }

    /** Makes counts into the starts of the partitions; they are the ends when all is placed. */
    private int[] starts() {
        for (int p = 0; p < partitions; p++) {
            ends[p + 1] += ends[p];
        }
        return ends;
    }

    /** The rows that were sorted, those of partition 0 first. */
    int[] rows() {
        return sorted;
    }

    int start(int partition) {
        return partition == 0 ? 0 : ends[partition - 1];
    }

    int end(int partition) {
        return ends[partition];
    }
}
