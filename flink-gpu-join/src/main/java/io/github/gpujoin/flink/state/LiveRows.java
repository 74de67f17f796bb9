// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * The live rows of a changelog: the last row of each key that was not deleted afterwards, or the
 * last change of each key. Exists on the heap while a log is rewritten.
 */
final class LiveRows {

    private static final int CHUNK_BYTES = 256 << 10;

    private record RowLocation(Chunk chunk, int row) {}

    private final DimensionSpec side;
    private final boolean keepsDeletions;

    private final FullKeys keys;
    private final Map<FullKey, RowLocation> rows = new LinkedHashMap<>();

    LiveRows(DimensionSpec side) {
        this(side, false);
    }

    /**
     * @param keepsDeletions whether a deletion stays as the last change of its key
     */
    LiveRows(DimensionSpec side, boolean keepsDeletions) {
        this.side = side;
        this.keepsDeletions = keepsDeletions;
        this.keys = FullKeys.of(side);
    }

    /** Applies the changes of a chunk in order. */
    void apply(Chunk chunk) {
        for (int row = 0; row < chunk.rowCount(); row++) {
            FullKey key = keys.get(chunk, row);
            RowChange change = RowChange.of(chunk.getInt(side.changeColumn(), row));
            if (keepsDeletions || change == RowChange.UPSERT) {
                rows.put(key, new RowLocation(chunk, row));
            } else {
                rows.remove(key);
            }
        }
    }

    int size() {
        return rows.size();
    }

    /**
     * Removes the rows that are older than a time.
     *
     * @param timeColumn fixed INT64 column
     * @return the removed rows
     */
    LiveRows removeBefore(int timeColumn, long time) {
        LiveRows removed = new LiveRows(side, keepsDeletions);
        rows.entrySet()
                .removeIf(
                        entry -> {
                            RowLocation location = entry.getValue();
                            boolean isBefore =
                                    location.chunk.getLong(timeColumn, location.row) < time;
                            if (isBefore) {
                                removed.rows.put(entry.getKey(), location);
                            }
                            return isBefore;
                        });
        return removed;
    }

    /** The smallest time of a row, or {@link Long#MAX_VALUE} without rows. */
    long oldest(int timeColumn) {
        return rows.values().stream()
                .mapToLong(location -> location.chunk.getLong(timeColumn, location.row))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Emits chunks of the dimension and partition with these rows, all with the given change. */
    void toChunks(
            int dimension,
            int partition,
            RowChange change,
            ThrowingConsumer<Chunk, Exception> consumer)
            throws Exception {
        toChunks(
                dimension,
                partition,
                builder -> builder.putInt(side.changeColumn(), change.code()),
                consumer);
    }

    /** Emits chunks of the dimension and partition with these rows, as they were written. */
    void toChunks(int dimension, int partition, ThrowingConsumer<Chunk, Exception> consumer)
            throws Exception {
        toChunks(dimension, partition, builder -> {}, consumer);
    }

    private void toChunks(
            int dimension,
            int partition,
            Consumer<ChunkBuilder> setChange,
            ThrowingConsumer<Chunk, Exception> consumer)
            throws Exception {
        ChunkBuilder builder = new ChunkBuilder(side.schema(), CHUNK_BYTES);
        long sequence = 0;
        for (RowLocation location : rows.values()) {
            builder.putRow(location.chunk, location.row);
            setChange.accept(builder);
            builder.endRow();
            if (builder.isFull()) {
                consumer.accept(builder.seal(dimension, partition, 0, sequence++));
            }
        }
        if (!builder.isEmpty()) {
            consumer.accept(builder.seal(dimension, partition, 0, sequence));
        }
    }
}
