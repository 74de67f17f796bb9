// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.SerializableTimestampAssigner;

/**
 * Gives a chunk the largest value of a column as its timestamp, for {@code
 * WatermarkStrategy.withTimestampAssigner}.
 */
@PublicEvolving
public final class ColumnTimestamps implements SerializableTimestampAssigner<Chunk> {

    private static final long serialVersionUID = 1L;

    private final int column;

    private ColumnTimestamps(int column) {
        this.column = column;
    }

    /**
     * Creates an assigner.
     *
     * @param schema of the chunks
     * @param name of an integer column that cannot be null, with milliseconds since 1970
     * @return the assigner
     * @throws IllegalArgumentException if there is no such column
     */
    public static ColumnTimestamps of(ChunkSchema schema, String name) {
        int index = schema.require(name);
        Column column = schema.column(index);
        if (!column.isFixed() || !column.type().isInteger()) {
            throw new IllegalArgumentException(
                    "Timestamps are integers that cannot be null: column=" + column);
        }
        return new ColumnTimestamps(index);
    }

    @Override
    public long extractTimestamp(Chunk chunk, long recordTimestamp) {
        long largest = Long.MIN_VALUE;
        for (int row = 0; row < chunk.rowCount(); row++) {
            largest = Math.max(largest, chunk.getLong(column, row));
        }
        return largest;
    }
}
