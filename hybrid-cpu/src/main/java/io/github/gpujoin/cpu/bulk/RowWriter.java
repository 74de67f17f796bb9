// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.EnumMap;
import java.util.Map;

/** Writes results to chunks, column by column. Not thread-safe. */
final class RowWriter implements ResultWriter {

    private final BulkJoinSpec spec;
    private final Map<JoinSide, TupleLayout> layouts;
    private final int chunkBytes;
    private final Receiver receiver;

    /** Created for the first result with those columns. */
    private final Map<ResultSides, ChunkBuilder> builders = new EnumMap<>(ResultSides.class);

    /**
     * @param chunkBytes size of a full chunk
     */
    RowWriter(
            BulkJoinSpec spec,
            Map<JoinSide, TupleLayout> layouts,
            int chunkBytes,
            Receiver receiver) {
        this.spec = spec;
        this.layouts = new EnumMap<>(layouts);
        this.chunkBytes = chunkBytes;
        this.receiver = receiver;
    }

    @Override
    public void write(ResultSides sides, long[] left, long[] right, int count)
            throws InterruptedException {
        ChunkBuilder builder =
                builders.computeIfAbsent(
                        sides, s -> new ChunkBuilder(spec.resultSchema(s), chunkBytes));
        int from = 0;
        while (from < count) {
            int rows =
                    builder.schema().hasVariableWidth()
                            ? writeRows(builder, sides, left, right, from, count)
                            : writeColumns(builder, sides, left, right, from, count);
            from += rows;
            if (builder.isFull()) {
                seal(sides, builder);
            }
        }
    }

    /** Writes as many rows as fit, and returns their number. */
    private int writeColumns(
            ChunkBuilder builder, ResultSides sides, long[] left, long[] right, int from, int to) {
        int rows = Math.min(to - from, builder.capacityRows() - builder.rowCount());
        int target = 0;
        for (JoinSide side : JoinSide.values()) {
            if (sides.contains(side)) {
                long[] tuples = side == JoinSide.LEFT ? left : right;
                TupleLayout layout = layouts.get(side);
                for (int column : spec.outputColumns(side)) {
                    int width = layout.widthBytes(column);
                    long start =
                            Memory.BYTES
                                    + builder.columnOffset(target++)
                                    + (long) width * builder.rowCount();
                    gather(tuples, from, rows, layout.offset(column), width, builder, start);
                }
            }
        }
        builder.advance(rows);
        return rows;
    }

    private static void gather(
            long[] tuples,
            int from,
            int rows,
            int offset,
            int width,
            ChunkBuilder builder,
            long start) {
        byte[] array = builder.array();
        if (width == Long.BYTES) {
            for (int i = 0; i < rows; i++) {
                Memory.putLong(array, start + 8L * i, Memory.getLong(tuples[from + i] + offset));
            }
        } else if (width == Integer.BYTES) {
            for (int i = 0; i < rows; i++) {
                Memory.putInt(array, start + 4L * i, Memory.getInt(tuples[from + i] + offset));
            }
        } else {
            for (int i = 0; i < rows; i++) {
                long value = Memory.getInteger(null, tuples[from + i] + offset, width);
                Memory.putInteger(array, start + (long) width * i, width, value);
            }
        }
    }

    /** Writes rows until the chunk is full, and returns their number. */
    private int writeRows(
            ChunkBuilder builder, ResultSides sides, long[] left, long[] right, int from, int to) {
        int row = from;
        while (row < to && !builder.isFull()) {
            int target = 0;
            for (JoinSide side : JoinSide.values()) {
                if (sides.contains(side)) {
                    long tuple = side == JoinSide.LEFT ? left[row] : right[row];
                    target = writeTuple(builder, target, side, tuple);
                }
            }
            builder.endRow();
            row++;
        }
        return row - from;
    }

    private int writeTuple(ChunkBuilder builder, int firstColumn, JoinSide side, long tuple) {
        TupleLayout layout = layouts.get(side);
        int target = firstColumn;
        for (int column : spec.outputColumns(side)) {
            if (builder.columnOffset(target) >= 0) {
                int width = layout.widthBytes(column);
                long value = Memory.getInteger(null, tuple + layout.offset(column), width);
                builder.putInteger(target, value);
            }
            target++;
        }
        if (!layout.variableWidthColumns().isEmpty()) {
            long at = Memory.getLong(tuple + layout.outOfLineOffset());
            if (layout.hasKeyBytes()) {
                at += 4L + Memory.getInt(at);
            }
            builder.addVariableWidthRow(null, at + 4, at + 4 + Memory.getInt(at));
        }
        return target;
    }

    private void seal(ResultSides sides, ChunkBuilder builder) throws InterruptedException {
        receiver.receive(
                new BulkResult.Rows(
                        sides,
                        builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0)));
    }

    @Override
    public void finish() throws InterruptedException {
        for (Map.Entry<ResultSides, ChunkBuilder> entry : builders.entrySet()) {
            if (!entry.getValue().isEmpty()) {
                seal(entry.getKey(), entry.getValue());
            }
        }
    }
}
