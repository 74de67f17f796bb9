// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.options.BadRecords;
import java.io.Serializable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Into which chunks a side of a join is packed.
 *
 * @param side name of the side, for messages
 * @param dimension number in the chunks' headers, {@link ChunkDescriptor#FACTS} for facts
 * @param partitions radix partitions, each of which gets chunks of its own; 0 for chunks of rows of
 *     any partition
 * @param partitionColumn key column, in the schema of the chunks, whose hash is the partition; of
 *     no meaning without partitions
 * @param chunkBytes payload at which a chunk is full
 * @param flushIntervalMs longest time that a row waits for its chunk to fill
 * @param badRecords whether a record that cannot be read fails the job
 * @param receivers prefix of the uids of the join each of whose subtasks gets chunks of all its
 *     partitions; null for chunks of one partition each
 */
public record PackSpec(
        String side,
        int dimension,
        int partitions,
        int partitionColumn,
        int chunkBytes,
        long flushIntervalMs,
        BadRecords badRecords,
        @Nullable String receivers)
        implements Serializable {

    public static final Duration DEFAULT_FLUSH_INTERVAL = Duration.ofMillis(100);

    /** Bound on the builders of one packer; 128 partitions get twice the default chunk size. */
    public static final int MAX_BUILDERS_BYTES = 32 << 20;

    public PackSpec {
        if (partitions < 0) {
            throw new IllegalArgumentException(
                    "Partition count is negative: side=%s, partitions=%d."
                            .formatted(side, partitions));
        }
        requirePositive(side, "Chunk size", "chunkBytes", chunkBytes);
        requirePositive(side, "Flush interval", "flushIntervalMs", flushIntervalMs);
    }

    private static void requirePositive(String side, String what, String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(
                    "%s is not positive: side=%s, %s=%d. Use 1 or more."
                            .formatted(what, side, name, value));
        }
    }

    /** Chunks of rows of any partition. */
    public static PackSpec unpartitioned(
            String side, int dimension, int chunkBytes, Duration flushInterval) {
        return new PackSpec(
                side,
                dimension,
                0,
                -1,
                chunkBytes,
                flushInterval.toMillis(),
                BadRecords.FAIL,
                null);
    }

    /** Chunks of one radix partition of a key column each. */
    public PackSpec partitionedBy(int column, int partitions) {
        return new PackSpec(
                side,
                dimension,
                partitions,
                column,
                chunkBytes,
                flushIntervalMs,
                badRecords,
                receivers);
    }

    /** The same partitions of another key column. */
    public PackSpec partitionedBy(int column) {
        return partitionedBy(column, partitions);
    }

    /** Chunks of rows of any partition, else the same. */
    PackSpec unpartitioned() {
        return partitionedBy(-1, 0);
    }

    /** The same, where records that cannot be read do so. */
    public PackSpec with(BadRecords policy) {
        return new PackSpec(
                side,
                dimension,
                partitions,
                partitionColumn,
                chunkBytes,
                flushIntervalMs,
                policy,
                receivers);
    }

    /**
     * Payload in bytes at which a chunk is full: less than {@link #chunkBytes} if there are so many
     * builders that all would take more than {@value #MAX_BUILDERS_BYTES} bytes.
     *
     * @param builders of a packer
     */
    public int builderBytes(int builders) {
        int share = isPartitioned() ? Math.max(1, MAX_BUILDERS_BYTES / builders) : chunkBytes;
        return Math.min(chunkBytes, share);
    }

    public boolean isPartitioned() {
        return partitions > 0;
    }
}
