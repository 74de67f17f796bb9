package io.github.gpujoin.core.histogram;

import io.github.gpujoin.core.layout.ChunkDescriptor;

/** Exact rows by radix partition. Not thread-safe. */
public final class Histogram {

    private final long[] rows;
    private long total;

    /**
     * @param partitions at least 1
     */
    public Histogram(int partitions) {
        if (partitions < 1) {
            throw new IllegalArgumentException(
                    "there is at least one partition: partitions=" + partitions);
        }
        this.rows = new long[partitions];
    }

    /**
     * @param partition or {@link ChunkDescriptor#UNPARTITIONED}, which counts in the total only
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
                    "histograms of one partitioning are merged: partitions="
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

    /** All rows, those of no partition included. */
    public long total() {
        return total;
    }

    /** Rows of the largest partition over the mean, 1 for an even or empty histogram. */
    public double skew() {
        long largest = 0;
        long sum = 0;
        for (long count : rows) {
            largest = Math.max(largest, count);
            sum += count;
        }
        return sum == 0 ? 1 : (double) largest * rows.length / sum;
    }
}
