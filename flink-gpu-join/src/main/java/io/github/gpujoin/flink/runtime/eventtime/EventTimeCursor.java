// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.function.IntConsumer;

/** A cursor over the rows of a chunk by event time, then by arrival. */
final class EventTimeCursor {

    /** Bits of the index of a row in a chunk, beside its time. */
    private static final int ROW_BITS = 24;

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
        long[] byTime = new long[unsorted.length];
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (int row : unsorted) {
            first = Math.min(first, timeOf(row));
            last = Math.max(last, timeOf(row));
        }
        if (chunk.rowCount() > 1 << ROW_BITS
                || last - first < 0
                || last - first >= 1L << Long.SIZE - 1 - ROW_BITS) {
            return sortedBoxed(unsorted);
        }
        for (int i = 0; i < byTime.length; i++) {
            byTime[i] = timeOf(unsorted[i]) - first << ROW_BITS | unsorted[i];
        }
        Arrays.sort(byTime);
        return Arrays.stream(byTime).mapToInt(each -> (int) each & (1 << ROW_BITS) - 1).toArray();
    }

    /** For times that are too far apart. */
    private int[] sortedBoxed(int[] unsorted) {
        return Arrays.stream(unsorted)
                .boxed()
                .sorted(Comparator.comparingLong(this::timeOf))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    Chunk chunk() {
        return chunk;
    }

    int timeColumn() {
        return timeColumn;
    }

    boolean isEmpty() {
        return next == rows.length;
    }

    int size() {
        return rows.length - next;
    }

    /** Whether no row was passed or left out. */
    boolean isWhole() {
        return next == 0 && rows.length == chunk.rowCount();
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

    /** Passes the remaining rows to a consumer, by event time. */
    void forEach(IntConsumer consumer) {
        for (int i = next; i < rows.length; i++) {
            consumer.accept(rows[i]);
        }
    }

    /** Event time of a row of the chunk, in ms. */
    long timeOf(int row) {
        return chunk.getLong(timeColumn, row);
    }

    /** A chunk of the remaining rows. */
    Chunk rest() {
        return rest(new BitSet());
    }

    /**
     * @param held rows that are also in the result
     * @return a chunk of the remaining rows in order of arrival
     */
    Chunk rest(BitSet held) {
        BitSet left = (BitSet) held.clone();
        forEach(left::set);
        int count = left.cardinality();
        return count == chunk.rowCount() ? chunk : copy(chunk, left.stream().toArray());
    }

    /**
     * @param rows of the chunk, ascending
     */
    static Chunk copy(Chunk chunk, int[] rows) {
        ChunkSchema schema = chunk.schema();
        int rowBytes = Math.max(1, schema.fixedRowBytes() + 8 * schema.variableWidthColumnCount());
        ChunkBuilder builder = new ChunkBuilder(schema, Math.max(1, rows.length) * rowBytes);
        for (int row : rows) {
            builder.addRow(chunk, row);
        }
        return builder.seal(chunk.dimension(), chunk.partition(), chunk.epoch(), chunk.sequence());
    }
}
