package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.stream.LongStream;

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

    /** Chunks of partitions, one after the other, read when they are asked for. */
    default Iterator<Chunk> ofPartitions(int first, int end) {
        return new Iterator<>() {
            private int partition = first - 1;
            private long next;
            private long chunks;

            @Override
            public boolean hasNext() {
                while (next == chunks && partition < end - 1) {
                    partition++;
                    next = 0;
                    chunks = count(partition);
                }
                return next < chunks;
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

    /** Some chunks of a partition, read when they are asked for. */
    default Iterator<Chunk> slice(int partition, long from, long to) {
        return LongStream.range(from, to).mapToObj(index -> get(partition, index)).iterator();
    }
}
