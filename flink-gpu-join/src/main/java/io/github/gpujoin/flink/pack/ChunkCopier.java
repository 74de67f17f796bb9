// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Copies chosen rows of a chunk, projected, into a builder, column by column. Not thread-safe. */
final class ChunkCopier {

    private final ChunkProjection projection;
    private final ChunkSchema source;
    private final ChunkSchema target;
    private final ChunkCursor cursor;
    private final int[] variableWidthIndex;
    private final boolean wholeVariableWidthRow;
    private final long[] variableWidthAt;

    ChunkCopier(ChunkProjection projection) {
        this.projection = projection;
        this.source = projection.source();
        this.target = projection.schema();
        this.cursor = new ChunkCursor(source);
        this.variableWidthIndex = new int[target.variableWidthColumnCount()];
        this.variableWidthAt = new long[source.variableWidthColumnCount() + 1];
        int next = 0;
        boolean inOrder = target.variableWidthColumnCount() == source.variableWidthColumnCount();
        for (int column = 0; column < target.size(); column++) {
            if (!target.column(column).isFixed()) {
                int index = indexAmongVariableWidth(source, projection.sourceColumn(column));
                inOrder &= index == next;
                variableWidthIndex[next++] = index;
            }
        }
        this.wholeVariableWidthRow = inOrder;
    }

    private static int indexAmongVariableWidth(ChunkSchema schema, int column) {
        int index = 0;
        for (int i = 0; i < column; i++) {
            index += schema.column(i).isFixed() ? 0 : 1;
        }
        return index;
    }

    /**
     * Appends as many of {@code rows[from]} to {@code rows[from + count - 1]} as fit the builder.
     *
     * @return number of appended rows, at least 1 unless the builder is full
     */
    int append(Chunk chunk, int[] rows, int from, int count, ChunkBuilder builder) {
        int fitting = Math.min(count, builder.capacityRows() - builder.rowCount());
        for (int column = 0; column < target.size(); column++) {
            if (target.column(column).isFixed()) {
                appendFixed(chunk, column, rows, from, fitting, builder);
            }
        }
        if (!target.hasVariableWidth()) {
            builder.advance(fitting);
            return fitting;
        }
        int appended = 0;
        while (appended < fitting && !builder.isFull()) {
            appendVariableWidth(chunk, rows[from + appended], builder);
            builder.endRow();
            appended++;
        }
        return appended;
    }

    private void appendFixed(
            Chunk chunk, int column, int[] rows, int from, int count, ChunkBuilder builder) {
        int sourceColumn = projection.sourceColumn(column);
        if (sourceColumn == ChunkProjection.NULL_KEYS) {
            appendNullKeys(chunk, column, rows, from, count, builder);
            return;
        }
        ColumnType type = target.column(column).type();
        byte[] array = builder.array();
        int width = type.widthBytes();
        int targetStart = builder.columnOffset(column) + width * builder.rowCount();
        if (!source.column(sourceColumn).isFixed()) {
            for (int i = 0; i < count; i++) {
                RowView row = cursor.at(chunk, rows[from + i]);
                long key = row.isNull(sourceColumn) ? rows[from + i] : row.getLong(sourceColumn);
                put(type, array, targetStart + width * i, key);
            }
        } else if (count > 0 && rows[from + count - 1] - rows[from] == count - 1) {
            long start = chunk.columnStart(sourceColumn) + (long) width * rows[from];
            ColumnGather.copyRange(width, chunk.array(), start, count, array, targetStart);
        } else {
            long start = chunk.columnStart(sourceColumn);
            ColumnGather.copy(width, chunk.array(), start, rows, from, count, array, targetStart);
        }
    }

    private void appendNullKeys(
            Chunk chunk, int column, int[] rows, int from, int count, ChunkBuilder builder) {
        int start = builder.columnOffset(column) + Integer.BYTES * builder.rowCount();
        for (int i = 0; i < count; i++) {
            RowView row = cursor.at(chunk, rows[from + i]);
            int nullKeys = 0;
            for (int key : projection.nullableKeys()) {
                nullKeys |= row.isNull(key) ? projection.nullKeyBits(key) : 0;
            }
            put(ColumnType.INT32, builder.array(), start + Integer.BYTES * i, nullKeys);
        }
    }

    private static void put(ColumnType type, byte[] array, int at, long key) {
        Memory.putInteger(array, Memory.BYTES + at, type.widthBytes(), key);
    }

    private void appendVariableWidth(Chunk chunk, int row, ChunkBuilder builder) {
        long at = chunk.variableWidthStart(row);
        byte @Nullable [] base = chunk.array();
        if (wholeVariableWidthRow) {
            builder.addVariableWidthRow(base, at, chunk.variableWidthEnd(row));
            return;
        }
        for (int i = 0; i < source.variableWidthColumnCount(); i++) {
            variableWidthAt[i] = at;
            at += 4 + Math.max(0, Memory.getInt(base, at));
        }
        variableWidthAt[source.variableWidthColumnCount()] = at;
        for (int index : variableWidthIndex) {
            builder.addVariableWidthRow(base, variableWidthAt[index], variableWidthAt[index + 1]);
        }
    }
}
