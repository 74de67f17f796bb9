// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.histogram;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.stream.LongStream;

/** Exact row counts by radix partition. Not thread-safe. */
public final class Histogram {

    private final long[] rows;
    private long total;

    /**
     * @param partitions at least 1
     */
    public Histogram(int partitions) {
        if (partitions < 1) {
            throw new IllegalArgumentException(
                    "Number of partitions is not positive: partitions=" + partitions);
        }
        this.rows = new long[partitions];
    }

    /**
     * Adds rows.
     *
     * @param partition or {@link ChunkDescriptor#UNPARTITIONED}, which adds to the total only
     */
    public void add(int partition, long count) {
        if (partition != ChunkDescriptor.UNPARTITIONED) {
            rows[partition] += count;
        }
        total += count;
    }

    public void merge(Histogram other) {
        if (other.rows.length != rows.length) {
            throw new IllegalArgumentException(
                    "Histograms differ in their number of partitions: partitions="
                            + rows.length
                            + ", other="
                            + other.rows.length);
        }
        for (int i = 0; i < rows.length; i++) {
            rows[i] += other.rows[i];
        }
        total += other.total;
    }

    public int partitions() {
        return rows.length;
    }

    public long rows(int partition) {
        return rows[partition];
    }

    /** Returns the number of rows that have a partition. */
    public long partitionedRows() {
        return LongStream.of(rows).sum();
    }

    /** Returns the number of all rows, including those without a partition. */
    public long total() {
        return total;
    }

    /**
     * Returns the rows of the largest partition divided by the mean; 1 for an even or empty
     * histogram.
     */
    public double skew() {
        long largest = LongStream.of(rows).max().orElse(0);
        long sum = partitionedRows();
        return sum == 0 ? 1 : (double) largest * rows.length / sum;
    }
}
