// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;

/**
 * All build chunks of an engine, from which tables are built and rebuilt.
 *
 * <p>The owner of the engine keeps the chunks, in keyed state or in memory. The engine reads them
 * on the thread that calls it, possibly several times and long after they were submitted. Partition
 * numbers are those of the chunks.
 */
public interface BuildChunks {

    /** Iterates over all chunks of the replicated dimensions and reads each chunk on demand. */
    Iterator<Chunk> replicated();

    /** Returns the number of chunks that a radix partition of the partitioned dimension has. */
    long count(int partition);

    /**
     * Reads a chunk of a radix partition.
     *
     * @param index in order of arrival, from 0 to {@link #count(int)} - 1
     */
    Chunk get(int partition, long index);

    /**
     * Returns the number of chunks of the partitions from {@code first} (inclusive) to {@code end}
     * (exclusive).
     */
    default long count(int first, int end) {
        return IntStream.range(first, end).mapToLong(this::count).sum();
    }

    /**
     * Iterates over the chunks of the partitions from {@code first} (inclusive) to {@code end}
     * (exclusive), and reads each chunk on demand.
     */
    default Iterator<Chunk> ofPartitions(int first, int end) {
        return slice(first, end, 0, Long.MAX_VALUE);
    }

    /**
     * Iterates over some chunks of the partitions from {@code first} (inclusive) to {@code end}
     * (exclusive), and reads each chunk on demand.
     *
     * @param from index of the first chunk in the order of {@link #ofPartitions}, from 0
     * @param to index after the last chunk; may exceed the number of chunks
     */
    default Iterator<Chunk> slice(int first, int end, long from, long to) {
        return new Iterator<>() {
            private int partition = first - 1;
            private long next;
            private long chunks;
            private long before;

            @Override
            public boolean hasNext() {
                while (next == chunks && partition < end - 1) {
                    before += chunks;
                    partition++;
                    chunks = count(partition);
                    next = Math.min(chunks, Math.max(0, from - before));
                }
                return next < chunks && before + next < to;
            }

            @Override
            public Chunk next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("No chunk left: endPartition=" + end);
                }
                return get(partition, next++);
            }
        };
    }
}
