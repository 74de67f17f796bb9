// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.flink.exchange.RowCounts;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Copies columns of both inputs to chunks of results. Not thread-safe. */
public final class JoinedChunkEmitter implements SymmetricResultEmitter<Chunk> {

    private static final int NONE = JoinedColumn.NONE;

    private final List<FixedWidth> fixedWidth = new ArrayList<>();
    private final List<VariableWidth> variableWidth = new ArrayList<>();
    private final int changeColumn;
    private final ChunkBuilder results;
    private final RowCounts rows;
    private final StreamRecord<Chunk> element = new StreamRecord<>(null);
    private long sequence;

    /** A result column of fixed width. */
    private record FixedWidth(int target, JoinSide side, int source, int widthBytes) {}

    /**
     * A result column of variable width.
     *
     * @param fixedColumn index of the column if it has a fixed width in the input, else {@link
     *     #NONE}
     * @param nullColumn as in {@link JoinedColumn}
     * @param index of the column among those of variable width in the input
     */
    private record VariableWidth(
            JoinSide side, int fixedColumn, int nullColumn, int widthBytes, int index) {}

    /**
     * @param schema of the results
     * @param columns of the results, in order, without the change column
     * @param chunkBytes at which a chunk is full
     * @param rows counts the rows of emitted chunks
     */
    public JoinedChunkEmitter(
            ChunkSchema left,
            ChunkSchema right,
            ChunkSchema schema,
            List<JoinedColumn> columns,
            int chunkBytes,
            RowCounts rows) {
        this.changeColumn = columns.size() < schema.size() ? columns.size() : NONE;
        this.results = new ChunkBuilder(schema, chunkBytes);
        this.rows = rows;
        for (int i = 0; i < columns.size(); i++) {
            JoinedColumn column = columns.get(i);
            ChunkSchema source = column.side() == JoinSide.LEFT ? left : right;
            boolean isFixed = source.column(column.column()).isFixed();
            int widthBytes = source.column(column.column()).type().widthBytes();
            if (schema.column(i).isFixed()) {
                fixedWidth.add(new FixedWidth(i, column.side(), column.column(), widthBytes));
            } else {
                variableWidth.add(
                        new VariableWidth(
                                column.side(),
                                isFixed ? column.column() : NONE,
                                column.nullColumn(),
                                widthBytes,
                                indexAmongVariableWidth(source, column.column())));
            }
        }
    }

    private static int indexAmongVariableWidth(ChunkSchema schema, int column) {
        int index = 0;
        for (int i = 0; i < column; i++) {
            index += schema.column(i).isFixed() ? 0 : 1;
        }
        return index;
    }

    @Override
    public void emit(SymmetricBatch batch, Output<StreamRecord<Chunk>> output) {
        int count = batch.resultCount();
        int next = 0;
        while (next < count) {
            next += append(batch, next, count - next);
            if (results.isFull()) {
                flush(output);
            }
        }
    }

    /** Appends as many results as fit, at least one, column by column. Returns their number. */
    private int append(SymmetricBatch batch, int from, int count) {
        int fitting = Math.min(count, results.capacityRows() - results.rowCount());
        for (FixedWidth column : fixedWidth) {
            copyFixed(batch, from, fitting, column);
        }
        if (changeColumn != NONE) {
            long to = targetOf(changeColumn, Integer.BYTES);
            for (int i = 0; i < fitting; i++) {
                int code = batch.kind(from + i).code();
                Memory.putInt(results.array(), to + (long) Integer.BYTES * i, code);
            }
        }
        if (variableWidth.isEmpty()) {
            results.advance(fitting);
            return fitting;
        }
        int appended = 0;
        while (appended < fitting && !results.isFull()) {
            for (VariableWidth column : variableWidth) {
                copyVariableWidth(batch, from + appended, column);
            }
            results.endRow();
            appended++;
        }
        return appended;
    }

    /** Returns where the next value of a fixed-width column is written. */
    private long targetOf(int column, int widthBytes) {
        return Memory.BYTES + results.columnOffset(column) + (long) widthBytes * results.rowCount();
    }

    /**
     * A fixed column cannot be null, so its side has a row in each result. The rows are anywhere in
     * memory; their loads do not depend on each other.
     */
    private void copyFixed(SymmetricBatch batch, int from, int count, FixedWidth column) {
        int width = column.widthBytes;
        long to = targetOf(column.target, width);
        byte[] target = results.array();
        for (int i = 0; i < count; i++) {
            Chunk chunk = batch.chunk(column.side.ordinal(), from + i);
            long value =
                    fixed(chunk, column.source, width, batch.row(column.side.ordinal(), from + i));
            Memory.putInteger(target, to + (long) width * i, width, value);
        }
    }

    private static long fixed(Chunk chunk, int column, int widthBytes, int row) {
        long at = chunk.columnStart(column) + (long) widthBytes * row;
        return Memory.getInteger(chunk.array(), at, widthBytes);
    }

    private void copyVariableWidth(SymmetricBatch batch, int result, VariableWidth column) {
        Chunk chunk = batch.chunk(column.side.ordinal(), result);
        int row = batch.row(column.side.ordinal(), result);
        if (chunk == null
                || column.nullColumn != NONE && chunk.getInt(column.nullColumn, row) != 0) {
            results.addNull();
            return;
        }
        if (column.fixedColumn != NONE) {
            results.addInteger(
                    column.widthBytes, fixed(chunk, column.fixedColumn, column.widthBytes, row));
            return;
        }
        byte[] bytes = chunk.array();
        long at = chunk.variableWidthStart(row);
        for (int i = 0; i < column.index; i++) {
            at += Integer.BYTES + Math.max(0, Memory.getInt(bytes, at));
        }
        int lengthBytes = Memory.getInt(bytes, at);
        if (lengthBytes == ChunkDescriptor.NULL_LENGTH) {
            results.addNull();
        } else {
            results.addBytesAt(bytes, at + Integer.BYTES, lengthBytes);
        }
    }

    @Override
    public void flush(Output<StreamRecord<Chunk>> output) {
        if (results.isEmpty()) {
            return;
        }
        Chunk chunk =
                results.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, sequence++);
        output.collect(element.replace(chunk));
        rows.emitted(chunk);
    }
}
