// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * The live rows of a changelog: the last row of each key that was not deleted afterwards. Exists on
 * the heap while a log is rewritten.
 */
final class LiveRows {

    private static final int CHUNK_BYTES = 256 << 10;

    private record RowLocation(Chunk chunk, int row) {}

    private final DimensionSpec side;
    private final Map<Long, RowLocation> rows = new LinkedHashMap<>();

    LiveRows(DimensionSpec side) {
        this.side = side;
    }

    /** Applies the changes of a chunk in order. */
    void apply(Chunk chunk) {
        for (int row = 0; row < chunk.rowCount(); row++) {
            long key = chunk.getLong(side.keyColumn(), row);
            if (RowChange.of(chunk.getInt(side.changeColumn(), row)) == RowChange.UPSERT) {
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
        LiveRows removed = new LiveRows(side);
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
        ChunkBuilder builder = new ChunkBuilder(side.schema(), CHUNK_BYTES);
        long sequence = 0;
        for (RowLocation location : rows.values()) {
            builder.putRow(location.chunk, location.row);
            builder.putInt(side.changeColumn(), change.code());
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
