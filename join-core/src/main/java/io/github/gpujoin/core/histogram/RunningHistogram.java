// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.histogram;

/**
 * Share of recent rows by radix partition. All counts are halved when a window is full, so that
 * they follow a change within one or two windows. Not thread-safe.
 */
public final class RunningHistogram {

    private final long[] rows;
    private final long windowRows;
    private long total;

    /**
     * @param windowRows rows after which all counts are halved
     */
    public RunningHistogram(int partitions, long windowRows) {
        if (partitions < 1 || windowRows < 1) {
            throw new IllegalArgumentException(
                    "Number of partitions or window is not positive: partitions="
                            + partitions
                            + ", windowRows="
                            + windowRows);
        }
        this.rows = new long[partitions];
        this.windowRows = windowRows;
    }

    public void add(int partition, long count) {
        rows[partition] += count;
        total += count;
        while (total >= windowRows) {
            total = 0;
            for (int i = 0; i < rows.length; i++) {
                rows[i] >>>= 1;
                total += rows[i];
            }
        }
    }

    /** Returns the share of a partition, from 0 to 1; 0 before the first row. */
    public double share(int partition) {
        return total == 0 ? 0 : (double) rows[partition] / total;
    }

    public int partitions() {
        return rows.length;
    }
}
