// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Options of a {@link CpuRadixJoin}.
 *
 * @param threads that partition and join
 * @param partitionBits of the number of partitions, 0 to {@value #MAX_PARTITION_BITS}. The smaller
 *     side of a partition should fit the cache of a core.
 * @param resultChunkBytes size of a full result chunk
 * @param spillDirectory of files for partitions that exceed half of the memory; null to fail if the
 *     memory does not suffice
 */
public record RadixJoinOptions(
        int threads, int partitionBits, int resultChunkBytes, @Nullable Path spillDirectory) {

    /** More partitions than this would leave no whole cache lines in the buffer of a thread. */
    public static final int MAX_PARTITION_BITS = 13;

    public static final int DEFAULT_PARTITION_BITS = 10;
    public static final int DEFAULT_RESULT_CHUNK_BYTES = 128 << 10;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if an option is out of range
     */
    public RadixJoinOptions {
        if (threads < 1 || resultChunkBytes < 1) {
            throw new IllegalArgumentException(
                    "Threads and size of result chunks are not positive: threads=%d,"
                                    .formatted(threads)
                            + " resultChunkBytes="
                            + resultChunkBytes);
        }
        if (partitionBits < 0 || partitionBits > MAX_PARTITION_BITS) {
            throw new IllegalArgumentException(
                    "Partition bits are out of range (0 to %d): partitionBits=%d"
                            .formatted(MAX_PARTITION_BITS, partitionBits));
        }
    }

    /** Returns the default options for a number of threads, without a directory. */
    public static RadixJoinOptions ofThreads(int threads) {
        return new RadixJoinOptions(
                threads, DEFAULT_PARTITION_BITS, DEFAULT_RESULT_CHUNK_BYTES, null);
    }

    /** Returns the same options with a directory of files, or with none if it is null. */
    public RadixJoinOptions spillingTo(@Nullable Path directory) {
        return new RadixJoinOptions(threads, partitionBits, resultChunkBytes, directory);
    }

    int partitions() {
        return 1 << partitionBits;
    }
}
