// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * The chunks of replicated dimensions that a subtask received, off the heap and shared with the
 * other subtasks of the process. An engine that replaces a GPU, or of another memory tier, rereads
 * them. A join with one engine holds none.
 *
 * <p>Not thread-safe.
 */
public final class ReplicaCopies implements AutoCloseable {

    private static final long MIN_REWRITE_ROWS = 1 << 12;

    /** Chunks of one dimension, in order of arrival. */
    private static final class Copies {
        private List<SharedChunk> chunks = new ArrayList<>();
        private long rows;
        private long liveRows;
    }

    private final JoinSpec spec;
    private final Set<Integer> replayed;
    private final boolean isReread;
    private final Map<Integer, Copies> dimensions = new HashMap<>();
    private MemoryReservations memory = MemoryReservations.unlimited();

    /**
     * @param replayed numbers of the dimensions that the operator before the join logs; may be
     *     empty
     * @param isReread whether an engine may reread the chunks
     */
    public ReplicaCopies(JoinSpec spec, Set<Integer> replayed, boolean isReread) {
        this.spec = spec;
        this.replayed = replayed;
        this.isReread = isReread;
    }

    /** Reserves copies in the memory of the engine; to be called before the first chunk. */
    void reserveIn(MemoryReservations engineMemory) {
        memory = engineMemory;
    }

    /** Whether chunks of a dimension are logged before the join, and so only copied here. */
    boolean isOf(int dimension) {
        return replayed.contains(dimension);
    }

    /**
     * @param compacts whether to rewrite the copies if less than half of their rows may be live
     */
    void add(Chunk chunk, boolean compacts) throws Exception {
        if (!isReread) {
            return;
        }
        int dimension = chunk.dimension();
        Copies copies = dimensions.computeIfAbsent(dimension, d -> new Copies());
        copies.chunks.add(SharedChunk.of(chunk, memory));
        copies.rows += chunk.rowCount();
        if (compacts && copies.rows > 2 * Math.max(copies.liveRows, MIN_REWRITE_ROWS)) {
            rewrite(dimension, copies);
        }
    }

    /** Replaces the copies by chunks of live rows only. */
    private void rewrite(int dimension, Copies copies) throws Exception {
        LiveRows live = new LiveRows(spec.dimensions().get(dimension));
        copies.chunks.forEach(chunk -> live.apply(chunk.read()));
        List<SharedChunk> replaced = copies.chunks;
        copies.chunks = new ArrayList<>();
        live.toChunks(
                dimension,
                ChunkDescriptor.UNPARTITIONED,
                RowChange.UPSERT,
                chunk -> copies.chunks.add(SharedChunk.of(chunk, memory)));
        copies.rows = live.size();
        copies.liveRows = live.size();
        replaced.forEach(SharedChunk::close);
    }

    /**
     * All chunks; the stream reads each when it reaches it. No rewrite may happen before its end.
     */
    Stream<Chunk> chunks() {
        List<SharedChunk> all = new ArrayList<>();
        dimensions.values().forEach(copies -> all.addAll(copies.chunks));
        return all.stream().map(SharedChunk::read);
    }

    void forEach(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        for (Copies copies : dimensions.values()) {
            for (SharedChunk chunk : copies.chunks) {
                consumer.accept(chunk.read());
            }
        }
    }

    @Override
    public void close() {
        dimensions.values().forEach(copies -> copies.chunks.forEach(SharedChunk::close));
        dimensions.clear();
    }
}
