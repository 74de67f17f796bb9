package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;

/**
 * All build chunks of an engine, from which tables are made and made again. Whoever owns the engine
 * keeps them, in state or in memory.
 */
public interface BuildChunks {

    /** All chunks of dimensions that every unit needs, read when they are asked for. */
    Iterator<Chunk> replicated();

    /** Chunks of the partitioned dimension in a radix partition. */
    long count(int partition);

    /**
     * @param index from 0, in order of arrival
     */
    Chunk get(int partition, long index);

    /** Number of chunks of some partitions. */
    default long count(int first, int end) {
        return IntStream.range(first, end).mapToLong(this::count).sum();
    }

    /** Chunks of partitions, one after the other, read when they are asked for. */
    default Iterator<Chunk> ofPartitions(int first, int end) {
        return slice(first, end, 0, Long.MAX_VALUE);
    }

    /**
     * Some chunks of partitions, read when they are asked for.
     *
     * @param from index among the chunks of {@link #ofPartitions}, from 0
     * @param to index behind the last one
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
                    throw new NoSuchElementException("all chunks were read: end=" + end);
                }
                return get(partition, next++);
            }
        };
    }
}
