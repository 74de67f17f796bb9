// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a row group that are decoded at once. Columns of fixed width go straight to the chunk
 * builder's array, others row by row until the chunk is full. The other rows of the batch then wait
 * for the next chunk. Used by one thread at a time.
 */
final class RowBatch {

    /** Few, so that the values stay in the processor's cache. */
    static final int MAX_ROWS = 1024;

    /**
     * Copied rather than counted: a loop here would have the JIT compiler inline all decoders into
     * this method while the first rows are read, which took it seconds.
     */
    private static final int[] ALL_ROWS = IntStream.range(0, MAX_ROWS).toArray();

    private final ChunkBuilder builder;
    private final ChunkSchema schema;
    private ColumnPages[] columns = new ColumnPages[0];

    /** Number in the row group of the first row. */
    private long firstRow;

    private int rows;

    /** Number of rows that meet the conditions, and how many of them were added to chunks. */
    private int kept;

    private int added;

    /** Whether {@link #selected} holds the kept rows; otherwise all are kept. */
    private boolean isSelection;

    private final int[] selected = new int[MAX_ROWS];

    /** Name of the column that is decoded, for messages. */
    private String decoding = "";

    /**
     * @param builder of the chunks, to which only this batch adds rows
     */
    RowBatch(ChunkBuilder builder) {
        this.builder = builder;
        this.schema = builder.schema();
    }

    /**
     * Starts to decode other pages.
     *
     * @param pages of each column of the schema
     */
    void startPages(ColumnPages[] pages) {
        columns = pages;
    }

    /**
     * Decodes the next rows, if none of the last ones are left.
     *
     * @param firstRow number in the row group of the first
     * @param rows at most {@link #MAX_ROWS}, and at most the room of the builder
     * @param pruner tests the rows; null keeps all
     */
    void decode(long firstRow, int rows, @Nullable RowPruner pruner) throws IOException {
        this.firstRow = firstRow;
        this.rows = rows;
        isSelection = pruner != null;
        added = 0;
        if (pruner == null) {
            readAll();
            kept = rows;
        } else {
            kept = readSelected(pruner);
        }
        decoding = "";
    }

    /** Returns the name of the column that {@link #decode} failed at, or an empty text. */
    String decoding() {
        return decoding;
    }

    private void readAll() throws IOException {
        for (int i = 0; i < columns.length; i++) {
            decoding = schema.column(i).name();
            columns[i].seek(firstRow);
            if (schema.column(i).isFixed()) {
                columns[i].read(rows, builder.array(), fixedStart(i));
            } else {
                columns[i].load(rows);
            }
        }
    }

    /** Returns the offset in the builder's array of a column's value of the next row. */
    private int fixedStart(int column) {
        int widthBytes = schema.column(column).type().widthBytes();
        return builder.columnOffset(column) + widthBytes * builder.rowCount();
    }

    /**
     * Decodes the columns with conditions first, each only where all before it are met.
     *
     * @return number of rows that meet all
     */
    private int readSelected(RowPruner pruner) throws IOException {
        for (ColumnPages column : columns) {
            column.startSelection();
        }
        System.arraycopy(ALL_ROWS, 0, selected, 0, rows);
        int met;
        try {
            met = pruner.select(this::select, selected, rows);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        for (ColumnPages column : columns) {
            if (column.isSelected()) {
                met = column.dropNulls(selected, met);
            }
        }
        for (int i = 0; i < columns.length && met > 0; i++) {
            if (!columns[i].isSelected()) {
                decoding = schema.column(i).name();
                columns[i].seek(firstRow);
                columns[i].select(selected, met, rows);
            }
            if (schema.column(i).isFixed()) {
                columns[i].put(selected, met, builder.array(), fixedStart(i));
            }
        }
        return met;
    }

    /** Selects rows by a condition on a column, which is decoded for them. */
    private int select(int column, LongCondition condition, int[] some, int count) {
        decoding = schema.column(column).name();
        try {
            // A further condition on the column tests what the first one decoded.
            if (!columns[column].isSelected()) {
                columns[column].seek(firstRow);
            }
            return columns[column].select(condition, some, count, rows);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether decoded rows did not fit the chunk. */
    boolean hasRest() {
        return added < kept;
    }

    /**
     * Adds decoded rows until the chunk is full.
     *
     * @return number of rows that were added
     */
    int addRows() {
        int before = added;
        if (!schema.hasVariableWidth()) {
            builder.advance(kept);
            added = kept;
        }
        for (; added < kept && !builder.isFull(); added++) {
            for (int i = 0; i < columns.length; i++) {
                if (!schema.column(i).isFixed()) {
                    append(i);
                }
            }
            builder.endRow();
        }
        return added - before;
    }

    private void append(int column) {
        if (isSelection) {
            columns[column].appendSelected(builder, selected[added]);
        } else {
            columns[column].append(builder, added);
        }
    }

    /** Returns the number in the row group of the next row that is added, or is not decoded yet. */
    long nextRow() {
        if (!hasRest()) {
            return firstRow + rows;
        }
        return firstRow + (isSelection ? selected[added] : added);
    }

    /** Returns a chunk of the rows that were added. */
    Chunk seal() {
        byte[] array = builder.array();
        int rowCount = builder.rowCount();
        Chunk chunk = builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
        if (hasRest()) {
            moveRest(array, rowCount);
        }
        return chunk;
    }

    /** Moves values of fixed width from behind the rows of the sealed chunk to the first row. */
    private void moveRest(byte[] array, int rowCount) {
        for (int i = 0; i < columns.length; i++) {
            if (schema.column(i).isFixed()) {
                int widthBytes = schema.column(i).type().widthBytes();
                int to = builder.columnOffset(i);
                int from = to + widthBytes * rowCount;
                System.arraycopy(array, from, builder.array(), to, widthBytes * (kept - added));
            }
        }
    }
}
