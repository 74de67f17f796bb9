// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Chunks of replicated dimensions in broadcast state, on the heap of every subtask: the log of
 * joins without a {@link ReplicaLog} before them, as releases up to 0.1.0 had it.
 *
 * <p>Not thread-safe.
 */
final class BroadcastLog {

    private static final String NAME = "replicated-build-log";
    private static final long MIN_REWRITE_ROWS = 1 << 12;

    private final ChunkEncoder encoder = new ChunkEncoder();
    private final JoinSpec spec;
    private final BroadcastState<Long, byte[]> state;
    private final Map<Integer, Long> rows = new HashMap<>();
    private final Map<Integer, Long> liveRows = new HashMap<>();
    private long next;

    BroadcastLog(OperatorStateStore store, JoinSpec spec) throws Exception {
        this.spec = spec;
        this.state =
                store.getBroadcastState(
                        new MapStateDescriptor<>(
                                NAME,
                                LongSerializer.INSTANCE,
                                BytePrimitiveArraySerializer.INSTANCE));
    }

    /**
     * @param compacts whether to rewrite the log if less than half of its rows may be live
     */
    void append(Chunk chunk, boolean compacts) throws Exception {
        write(chunk);
        int dimension = chunk.dimension();
        if (compacts) {
            long live = liveRows.getOrDefault(dimension, 0L);
            if (rows.get(dimension) > 2 * Math.max(live, MIN_REWRITE_ROWS)) {
                rewrite(read(dimension), dimension);
            }
        }
    }

    private void write(Chunk chunk) throws Exception {
        state.put(next++, encoder.encode(chunk));
        count(chunk);
    }

    private void count(Chunk chunk) {
        rows.merge(chunk.dimension(), (long) chunk.rowCount(), Long::sum);
    }

    /** As {@link PartitionLog#expire}. */
    long expire(
            int dimension,
            int timeColumn,
            long before,
            ThrowingConsumer<Chunk, Exception> deletions)
            throws Exception {
        LiveRows live = read(dimension);
        LiveRows expired = live.removeBefore(timeColumn, before);
        if (expired.size() > 0) {
            rewrite(live, dimension);
            expired.toChunks(dimension, ChunkDescriptor.UNPARTITIONED, RowChange.DELETE, deletions);
        }
        return live.oldest(timeColumn);
    }

    private LiveRows read(int dimension) throws Exception {
        LiveRows live = new LiveRows(spec.dimensions().get(dimension));
        for (Chunk chunk : inOrder().values()) {
            if (chunk.dimension() == dimension) {
                live.apply(chunk);
            }
        }
        return live;
    }

    private void rewrite(LiveRows live, int dimension) throws Exception {
        for (Map.Entry<Long, Chunk> entry : inOrder().entrySet()) {
            if (entry.getValue().dimension() == dimension) {
                state.remove(entry.getKey());
            }
        }
        rows.remove(dimension);
        live.toChunks(dimension, ChunkDescriptor.UNPARTITIONED, RowChange.UPSERT, this::write);
        liveRows.put(dimension, (long) live.size());
    }

    private TreeMap<Long, Chunk> inOrder() throws Exception {
        TreeMap<Long, Chunk> inOrder = new TreeMap<>();
        for (Map.Entry<Long, byte[]> entry : state.immutableEntries()) {
            inOrder.put(entry.getKey(), LoggedChunks.decode(spec, entry.getValue()));
        }
        return inOrder;
    }

    /** All chunks in order. */
    Collection<Chunk> chunks() throws Exception {
        return inOrder().values();
    }

    /** Converts all chunks of a snapshot to chunks of this join. */
    void migrate(ChunkMigration migration) throws Exception {
        if (migration.isNone()) {
            return;
        }
        List<Map.Entry<Long, byte[]>> entries = new ArrayList<>();
        state.immutableEntries().forEach(entries::add);
        for (Map.Entry<Long, byte[]> entry : entries) {
            byte[] migrated = migration.migrate(entry.getValue());
            if (migrated == null) {
                state.remove(entry.getKey());
            } else {
                state.put(entry.getKey(), migrated);
            }
        }
    }

    /** Emits all chunks in order. */
    void replay(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        TreeMap<Long, Chunk> inOrder = inOrder();
        rows.clear();
        for (Chunk chunk : inOrder.values()) {
            count(chunk);
            consumer.accept(chunk);
        }
        next = inOrder.isEmpty() ? 0 : inOrder.lastKey() + 1;
    }
}
