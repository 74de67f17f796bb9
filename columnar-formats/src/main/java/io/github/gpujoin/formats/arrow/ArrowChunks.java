// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.FileColumns;
import io.github.gpujoin.formats.FileSchemaException;
import java.io.IOException;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/** Cuts the record batches of one split into chunks. Used by one thread at a time. */
final class ArrowChunks implements ColumnarReader {

    /** Rows whose columns of fixed width are copied at once. */
    private static final int BATCH_ROWS = 1024;

    private final ArrowBatches batches;
    private final ColumnarSplit split;
    private final ChunkSchema schema;
    private final ChunkBuilder builder;
    private final ArrowColumn[] columns;

    private int batchRows;
    private int row;

    private ArrowChunks(
            ArrowBatches batches, ChunkSchema schema, int chunkBytes, ColumnarSplit split)
            throws IOException {
        this.batches = batches;
        this.split = split;
        this.schema = schema;
        this.builder = new ChunkBuilder(schema, chunkBytes);
        this.columns = columns(batches, schema, split.path());
    }

    private static ArrowColumn[] columns(ArrowBatches batches, ChunkSchema schema, Path file)
            throws IOException {
        ArrowColumn[] columns = new ArrowColumn[schema.size()];
        try {
            for (int i = 0; i < columns.length; i++) {
                columns[i] = batches.column(schema.column(i).name());
                FileColumns.requireReadable(schema.column(i), columns[i].type(), "Arrow");
            }
        } catch (IllegalArgumentException e) {
            throw new FileSchemaException(e, file);
        }
        return columns;
    }

    /**
     * @throws FileSchemaException if the file lacks a column, or has it with another type
     * @throws IOException if the file cannot be read; the batches are closed then
     */
    static ArrowChunks open(
            ArrowBatches batches,
            ChunkSchema schema,
            int chunkBytes,
            ColumnarSplit split,
            ColumnarPosition from)
            throws IOException {
        try {
            ArrowChunks chunks = new ArrowChunks(batches, schema, chunkBytes, split);
            chunks.startAt(from);
            return chunks;
        } catch (IllegalArgumentException e) {
            batches.close();
            throw new IOException(e.getMessage() + ", file=" + split.path(), e);
        } catch (IOException | RuntimeException e) {
            batches.close();
            throw e;
        }
    }

    private void startAt(ColumnarPosition from) throws IOException {
        if (from.isStart()) {
            return;
        }
        do {
            if (!nextBatch()) {
                throw new IOException(
                        "File has changed since the checkpoint: no record batch starts at offset="
                                + from.offset()
                                + ", file="
                                + split.path());
            }
        } while (batches.offset() != from.offset());
        if (from.rows() > batchRows) {
            throw new IOException(
                    "File has changed since the checkpoint: row=%d, rows=%d, offset=%d, file=%s"
                            .formatted(from.rows(), batchRows, from.offset(), split.path()));
        }
        row = (int) from.rows();
    }

    private boolean nextBatch() throws IOException {
        if (!batches.next(split.offset(), split.end())) {
            return false;
        }
        batchRows = batches.rowCount();
        row = 0;
        return true;
    }

    @Override
    public @Nullable Chunk read() throws IOException {
        while (!builder.isFull() && (row < batchRows || nextBatch())) {
            try {
                copyRows();
            } catch (RuntimeException e) {
                throw batches.damaged(e);
            }
        }
        return builder.isEmpty()
                ? null
                : builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private void copyRows() {
        int room = builder.capacityRows() - builder.rowCount();
        int count = Math.min(Math.min(batchRows - row, room), BATCH_ROWS);
        for (int i = 0; i < columns.length; i++) {
            if (!schema.column(i).nullable() && columns[i].hasNulls(row, count)) {
                throw new IllegalArgumentException(
                        "Null in a column that is read as not nullable: column="
                                + schema.column(i).name());
            }
            if (schema.column(i).isFixed()) {
                copyColumn(i, count);
            }
        }
        if (schema.hasVariableWidth()) {
            for (int end = row + count; row < end && !builder.isFull(); row++) {
                appendRow();
            }
        } else {
            builder.advance(count);
            row += count;
        }
    }

    private void copyColumn(int i, int count) {
        int widthBytes = schema.column(i).type().widthBytes();
        int at = builder.columnOffset(i) + widthBytes * builder.rowCount();
        if (columns[i].isArrayOf(schema.column(i).type())) {
            columns[i].copy(row, count, builder.array(), at);
            return;
        }
        for (int done = 0; done < count; done++) {
            long to = Memory.BYTES + at + (long) widthBytes * done;
            Memory.putInteger(builder.array(), to, widthBytes, columns[i].number(row + done));
        }
    }

    private void appendRow() {
        for (int i = 0; i < columns.length; i++) {
            Column column = schema.column(i);
            if (column.isFixed()) {
                continue;
            }
            if (columns[i].isNull(row)) {
                builder.addNull();
            } else if (column.type().isFixedWidth()) {
                builder.addInteger(column.type().widthBytes(), columns[i].number(row));
            } else {
                int length = columns[i].load(row);
                builder.addBytes(columns[i].bytes(), 0, length);
            }
        }
        builder.endRow();
    }

    @Override
    public ColumnarPosition position() {
        return new ColumnarPosition(batches.offset(), row);
    }

    @Override
    public void close() throws IOException {
        batches.close();
    }
}
