// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Build chunks in keyed state, each under one of the subtask's own radix partitions, in order of
 * arrival. The log of a changelog dimension is rewritten, partition by partition, when less than
 * half of its rows may be live. Each such dimension has its own log.
 *
 * <p>Not thread-safe.
 */
final class PartitionLog {

    /** A log of fewer rows is never rewritten. */
    private static final long MIN_REWRITE_ROWS = 1 << 12;

    private final ChunkEncoder encoder = new ChunkEncoder();
    private final JoinSpec spec;
    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final KeyedChunkLog chunks;
    private final BuildLogSizes sizes;
    private final LogBytes bytes;
    private final boolean keepsDeletions;

    /**
     * Live rows of a partition when its log was last rewritten; none before, and after a restore.
     */
    private final Map<Integer, Long> liveRows = new HashMap<>();

    /**
     * @param name of the log's state
     * @param bytes counts the chunks that are appended
     * @param keepsDeletions whether deletions stay in a log that is rewritten
     * @param setCurrentKey of the operator that owns the keyed state
     */
    PartitionLog(
            KeyedStateStore store,
            String name,
            JoinSpec spec,
            PartitionKeys keys,
            LogBytes bytes,
            boolean keepsDeletions,
            IntConsumer setCurrentKey) {
        this.spec = spec;
        this.keepsDeletions = keepsDeletions;
        this.keys = keys;
        this.bytes = bytes;
        this.setCurrentKey = setCurrentKey;
        this.chunks = new KeyedChunkLog(store, name);
        this.sizes = new BuildLogSizes(store, name + "-size", keys, setCurrentKey);
    }

    void append(int partition, Chunk chunk) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        byte[] encoded = encoder.encode(chunk);
        chunks.append(encoded);
        bytes.add(chunk, encoded);
        sizes.add(partition, chunk);
    }

    /** Number of chunks of one of the subtask's own partitions. */
    long count(int partition) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        return chunks.size();
    }

    /**
     * Number of chunks of a partition in the restored snapshot.
     *
     * @throws SuppressRestartsException if the log has fewer chunks than its size in the snapshot
     */
    long restoredCount(int partition) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        long count = chunks.restoredSize();
        long written = sizes.get(partition).chunks();
        if (count < written) {
            throw new SuppressRestartsException(
                    SnapshotDamage.in(
                            chunks.name(),
                            "a build log lacks chunks: partition=%d, chunks=%d, expected=%d"
                                    .formatted(partition, count, written)));
        }
        return count;
    }

    /**
     * @param index in order of arrival, from 0
     */
    Chunk get(int partition, long index) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        return LoggedChunks.decode(spec, chunks.get(index));
    }

    /** Rewrites the log of a changelog dimension if less than half of its rows may be live. */
    void compact(int dimension, int partition) throws Exception {
        // A rewrite reads all rows, so at least as many rows must have arrived since the last one.
        long live = liveRows.getOrDefault(partition, 0L);
        if (sizes.get(partition).rows() > 2 * Math.max(live, MIN_REWRITE_ROWS)) {
            rewrite(read(dimension, partition), dimension, partition);
        }
    }

    /**
     * Removes the rows of a changelog dimension that are older than a time.
     *
     * @param timeColumn fixed INT64 column
     * @param deletions receives chunks that delete these rows from tables
     * @return the smallest time of the remaining rows, or {@link Long#MAX_VALUE} without any
     */
    long expire(
            int dimension,
            int partition,
            int timeColumn,
            long before,
            ThrowingConsumer<Chunk, Exception> deletions)
            throws Exception {
        LiveRows live = read(dimension, partition);
        LiveRows expired = live.removeBefore(timeColumn, before);
        if (expired.size() > 0) {
            rewrite(live, dimension, partition);
            expired.toChunks(dimension, partition, RowChange.DELETE, deletions);
        }
        return live.oldest(timeColumn);
    }

    private LiveRows read(int dimension, int partition) throws Exception {
        LiveRows live = new LiveRows(spec.dimensions().get(dimension), keepsDeletions);
        for (long i = 0; i < count(partition); i++) {
            live.apply(get(partition, i));
        }
        return live;
    }

    private void rewrite(LiveRows live, int dimension, int partition) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        chunks.clear();
        sizes.set(PartitionSize.empty(partition));
        live.toChunks(dimension, partition, chunk -> append(partition, chunk));
        liveRows.put(partition, (long) live.size());
    }

    /** Converts all chunks of a snapshot to chunks of this join. */
    void migrate(ChunkMigration migration) throws Exception {
        if (migration.isNone()) {
            return;
        }
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            chunks.replaceAll(migration::migrate);
            PartitionSize size = PartitionSize.empty(partition);
            for (long i = 0; i < count(partition); i++) {
                size = size.plus(get(partition, i));
            }
            sizes.set(size);
        }
    }

    /**
     * Emits the size of each of the subtask's own partitions. The log is read only if the snapshot
     * does not hold its size, as snapshots of release 0.1.0 do not.
     *
     * @throws SuppressRestartsException if a log has fewer chunks than its size in the snapshot
     */
    void replaySizes(ThrowingConsumer<PartitionSize, Exception> consumer) throws Exception {
        for (int partition : keys.ownPartitions()) {
            PartitionSize size = sizes.get(partition);
            long count = restoredCount(partition);
            if (size.chunks() != count) {
                size = PartitionSize.empty(partition);
                for (long i = 0; i < count; i++) {
                    size = size.plus(get(partition, i));
                }
                sizes.set(size);
            }
            consumer.accept(size);
        }
    }

    /** Completes the state for a snapshot. */
    void snapshot() throws Exception {
        sizes.snapshot();
    }
}
