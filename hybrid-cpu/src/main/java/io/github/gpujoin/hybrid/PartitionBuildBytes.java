// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.stream.LongStream;

/** Counts the build bytes of each radix partition of this subtask. Not thread-safe. */
final class PartitionBuildBytes {

    private final int firstPartition;
    private final long[] bytes;

    PartitionBuildBytes(HybridOptions options) {
        this.firstPartition = options.firstPartition();
        this.bytes = new long[options.partitionCount()];
    }

    int partitionCount() {
        return bytes.length;
    }

    /**
     * Returns the index of a partition, relative to the first one of this subtask.
     *
     * @param partition of a chunk; may be {@code UNPARTITIONED} if the subtask has one partition
     * @throws IllegalArgumentException if the subtask does not own the partition
     */
    int index(int partition) {
        int index = partition - firstPartition;
        if (partition == ChunkDescriptor.UNPARTITIONED && bytes.length == 1) {
            return 0;
        }
        if (index < 0 || index >= bytes.length) {
            throw new IllegalArgumentException(
                    "Chunk of a partition that this subtask does not own: partition="
                            + partition
                            + ", firstPartition="
                            + firstPartition
                            + ", partitions="
                            + bytes.length);
        }
        return index;
    }

    void add(int index, long more) {
        bytes[index] += more;
    }

    long bytes(int index) {
        return bytes[index];
    }

    /** Returns the bytes of the partitions with index {@code first} to {@code end} (exclusive). */
    long bytes(int first, int end) {
        return LongStream.of(bytes).skip(first).limit(end - first).sum();
    }

    long total() {
        return bytes(0, bytes.length);
    }

    long largest() {
        return LongStream.of(bytes).max().orElse(0);
    }
}
