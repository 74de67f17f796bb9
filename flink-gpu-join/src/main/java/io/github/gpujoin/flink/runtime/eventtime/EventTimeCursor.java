// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.IntConsumer;

/** A cursor over the rows of a chunk by event time, then by arrival. */
final class EventTimeCursor {

    private final Chunk chunk;
    private final int timeColumn;
    private final int[] rows;
    private int next;

    /**
     * @param joinedUpTo rows of this time or before it are late
     * @param onLate receives each late row
     * @throws IllegalArgumentException if a row has no event time
     */
    EventTimeCursor(Chunk chunk, int timeColumn, long joinedUpTo, IntConsumer onLate) {
        this.chunk = chunk;
        this.timeColumn = timeColumn;
        int[] kept = new int[chunk.rowCount()];
        int count = 0;
        boolean inOrder = true;
        long last = Long.MIN_VALUE;
        for (int row = 0; row < chunk.rowCount(); row++) {
            long time = chunk.getLong(timeColumn, row);
            if (time == Long.MIN_VALUE) {
                throw new IllegalArgumentException(
                        "Row without a timestamp in a versioned join: dimension=%d, row=%d. Assign timestamps before the join."
                                .formatted(chunk.dimension(), row));
            }
            if (time <= joinedUpTo) {
                onLate.accept(row);
                continue;
            }
            inOrder &= time >= last;
            last = time;
            kept[count++] = row;
        }
        int[] onTime = Arrays.copyOf(kept, count);
        this.rows = inOrder ? onTime : sorted(onTime);
    }

    private int[] sorted(int[] unsorted) {
        return Arrays.stream(unsorted)
                .boxed()
                .sorted(Comparator.comparingLong(row -> chunk.getLong(timeColumn, row)))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    Chunk chunk() {
        return chunk;
    }

    int timeColumn() {
        return timeColumn;
    }

    boolean isBegun() {
        return next > 0;
    }

    boolean isEmpty() {
        return next == rows.length;
    }

    int size() {
        return rows.length - next;
    }

    /** Index of the next row in the chunk. */
    int row() {
        return rows[next];
    }

    /** Event time of the next row, in ms. */
    long time() {
        return chunk.getLong(timeColumn, rows[next]);
    }

    /** Largest event time of the remaining rows, in ms; at least one must remain. */
    long lastTime() {
        return chunk.getLong(timeColumn, rows[rows.length - 1]);
    }

    void advance() {
        next++;
    }

    /** A chunk of the remaining rows. */
    Chunk rest() {
        if (size() == chunk.rowCount()) {
            return chunk;
        }
        ChunkSchema schema = chunk.schema();
        int rowBytes = Math.max(1, schema.fixedRowBytes() + 8 * schema.variableWidthColumnCount());
        ChunkBuilder builder = new ChunkBuilder(schema, size() * rowBytes);
        int[] left = Arrays.copyOfRange(rows, next, rows.length);
        Arrays.sort(left);
        for (int row : left) {
            builder.addRow(chunk, row);
        }
        return builder.seal(chunk.dimension(), chunk.partition(), chunk.epoch(), chunk.sequence());
    }
}
