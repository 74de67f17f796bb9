// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.PartitionSummary;
import java.util.Arrays;
import java.util.stream.LongStream;

/**
 * Counts build rows by dimension and by partition. One thread counts; another may read slightly
 * outdated counts.
 */
public final class BuildCounts {

    private final long[] rows;
    private final long[] bytes;
    private final Histogram partitions;
    private long chunks;

    BuildCounts(int dimensions, int partitions) {
        this.rows = new long[dimensions];
        this.bytes = new long[dimensions];
        this.partitions = new Histogram(partitions);
    }

    void add(Chunk chunk) {
        add(
                chunk.dimension(),
                chunk.partition(),
                1,
                chunk.rowCount(),
                EngineChecks.payloadBytes(chunk));
    }

    /**
     * @param moreBytes as {@link EngineChecks#payloadBytes} counts them
     */
    void add(int dimension, int partition, long moreChunks, long moreRows, long moreBytes) {
        chunks += moreChunks;
        rows[dimension] += moreRows;
        bytes[dimension] += moreBytes;
        partitions.add(partition, moreRows);
    }

    long chunks() {
        return chunks;
    }

    long allRows() {
        return LongStream.of(rows).sum();
    }

    long allBytes() {
        return LongStream.of(bytes).sum();
    }

    long rows(int dimension) {
        return rows[dimension];
    }

    /** Bytes of the chunks that arrived. */
    public long bytes(int dimension) {
        return bytes[dimension];
    }

    /** Rows of the largest partition divided by the mean; 1 without partitioned rows. */
    double skew() {
        return partitions.skew();
    }

    PartitionSummary partitions() {
        return summary(partitions);
    }

    /** Returns a copy of the rows by partition. For the thread that counts. */
    public Histogram copyOfPartitions() {
        Histogram copy = new Histogram(partitions.partitions());
        copy.merge(partitions);
        return copy;
    }

    /** Summarizes the rows of partitions that have some. */
    public static PartitionSummary summary(Histogram histogram) {
        long[] rows = new long[histogram.partitions()];
        int filled = 0;
        int largest = 0;
        for (int partition = 0; partition < histogram.partitions(); partition++) {
            if (histogram.rows(partition) > 0) {
                rows[filled++] = histogram.rows(partition);
            }
            if (histogram.rows(partition) > histogram.rows(largest)) {
                largest = partition;
            }
        }
        if (filled == 0) {
            return PartitionSummary.NONE;
        }
        Arrays.sort(rows, 0, filled);
        return new PartitionSummary(filled, rows[filled / 2], rows[filled - 1], largest);
    }
}
