// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.reference.ReferenceJoinEngine.JoinedRow;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Writes result rows of a bulk join to chunks, value by value. */
final class ReferenceRows {

    private static final int CHUNK_BYTES = 64 << 10;

    private final BulkJoinSpec spec;
    private final Map<JoinSide, ChunkCursor> cursors = new EnumMap<>(JoinSide.class);
    private final Map<ResultSides, ChunkBuilder> builders = new EnumMap<>(ResultSides.class);

    ReferenceRows(BulkJoinSpec spec) {
        this.spec = spec;
        for (JoinSide side : JoinSide.values()) {
            cursors.put(side, new ChunkCursor(spec.input(side).schema()));
        }
        for (ResultSides sides : ResultSides.values()) {
            builders.put(sides, new ChunkBuilder(spec.resultSchema(sides), CHUNK_BYTES));
        }
    }

    /**
     * Adds a result row.
     *
     * @param left null for a right row without a match
     * @param right null for a result of left columns only
     * @param results receives the chunk if it is full
     */
    void add(@Nullable JoinedRow left, @Nullable JoinedRow right, Consumer<BulkResult> results) {
        ResultSides sides =
                right == null
                        ? ResultSides.LEFT
                        : left == null ? ResultSides.RIGHT : ResultSides.BOTH;
        ChunkBuilder builder = builders.get(sides);
        int column = left == null ? 0 : put(builder, 0, JoinSide.LEFT, left);
        if (right != null) {
            put(builder, column, JoinSide.RIGHT, right);
        }
        builder.endRow();
        if (builder.isFull()) {
            seal(sides, results);
        }
    }

    /** Passes the rows of a chunk on, if there are any. */
    void seal(ResultSides sides, Consumer<BulkResult> results) {
        ChunkBuilder builder = builders.get(sides);
        if (!builder.isEmpty()) {
            results.accept(
                    new BulkResult.Rows(
                            sides,
                            builder.seal(
                                    ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0)));
        }
    }

    /** Writes the output columns of a row and returns the next column of the result. */
    private int put(ChunkBuilder builder, int firstColumn, JoinSide side, JoinedRow row) {
        RowView view = cursors.get(side).at(row.chunk(), row.row());
        int target = firstColumn;
        for (int source : spec.outputColumns(side)) {
            put(builder, target++, view, source);
        }
        return target;
    }

    private static void put(ChunkBuilder builder, int target, RowView view, int source) {
        Column column = view.schema().column(source);
        if (view.isNull(source)) {
            builder.addNull();
            return;
        }
        switch (column.type()) {
            case STRING -> builder.addString(view.getString(source));
            case BYTES -> addBytes(builder, view.getBytes(source));
            case FLOAT32 -> put(builder, target, column, floatBits(view, source));
            case FLOAT64 -> put(builder, target, column, doubleBits(view, source));
            default -> put(builder, target, column, view.getLong(source));
        }
    }

    private static long floatBits(RowView view, int column) {
        return Float.floatToRawIntBits((float) view.getDouble(column));
    }

    private static long doubleBits(RowView view, int column) {
        return Double.doubleToRawLongBits(view.getDouble(column));
    }

    private static void addBytes(ChunkBuilder builder, byte[] value) {
        builder.addBytes(value, 0, value.length);
    }

    private static void put(ChunkBuilder builder, int target, Column column, long bits) {
        if (column.isFixed()) {
            builder.putInteger(target, bits);
        } else {
            builder.addInteger(column.type().widthBytes(), bits);
        }
    }
}
