// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.source.ColumnConditions;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.FileColumns;
import io.github.gpujoin.formats.FileSchemaException;
import io.github.gpujoin.formats.RowConditions;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.internal.filter2.columnindex.RowRanges;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/** Reads the row groups of one split. Used by one thread at a time. */
final class ParquetReader implements ColumnarReader {

    private final ParquetFile file;
    private final Path path;
    private final ChunkSchema schema;
    private final ParquetColumn[] sources;
    private final ColumnDescriptor[] descriptors;
    private final ChunkBuilder builder;

    private final RowGroups groups;
    private final RowConditions conditions;
    private final RowBatch batch;

    /** Null if the schema has a column of variable width. */
    private final @Nullable EncodedRows encodedRows;

    /** Of the current row group. */
    private ColumnDictionary[] dictionaries = new ColumnDictionary[0];

    /** Of the current piece; null if all of it is skipped. */
    private @Nullable PageReadStore pages;

    /** Rows of the current piece whose pages are there; first the current ones. */
    private Deque<RowRanges.Range> ranges = new ArrayDeque<>();

    private long groupOffset = ColumnarPosition.START.offset();

    /** The next row in the current row group, and the row after the last one of the piece. */
    private long row;

    private long endRow;
    private long rowsSkipped;

    private ParquetReader(
            ParquetFile file,
            ChunkSchema schema,
            int chunkBytes,
            ColumnarSplit split,
            ColumnConditions conditions)
            throws IOException {
        this.file = file;
        this.conditions =
                new RowConditions(
                        conditions, schema, column -> schema.column(column).type().isInteger());
        this.path = split.path();
        this.schema = schema;
        this.builder = new ChunkBuilder(schema, chunkBytes);
        this.batch = new RowBatch(builder);
        this.encodedRows =
                schema.hasVariableWidth() ? null : new EncodedRows(schema, builder.capacityRows());
        MessageType types = file.types();
        this.sources = columns(types, schema, path);
        this.descriptors = new ColumnDescriptor[schema.size()];
        List<Type> wanted = new ArrayList<>();
        for (int i = 0; i < sources.length; i++) {
            String name = schema.column(i).name();
            descriptors[i] = types.getColumnDescription(new String[] {name});
            wanted.add(types.getType(name));
        }
        file.reader().setRequestedSchema(new MessageType(types.getName(), wanted));
        this.groups = new RowGroups(file.reader(), split);
    }

    private static ParquetColumn[] columns(MessageType types, ChunkSchema schema, Path file)
            throws FileSchemaException {
        ParquetColumn[] columns = new ParquetColumn[schema.size()];
        try {
            for (int i = 0; i < columns.length; i++) {
                Column column = schema.column(i);
                columns[i] = ParquetColumn.of(requireColumn(types, column));
                FileColumns.requireReadable(column, columns[i].type(), "Parquet");
            }
        } catch (IllegalArgumentException e) {
            throw new FileSchemaException(e, file);
        }
        return columns;
    }

    private static Type requireColumn(MessageType types, Column column) {
        if (!types.containsField(column.name())) {
            throw new IllegalArgumentException(
                    "Column is not in the Parquet file: column="
                            + column.name()
                            + ", columns="
                            + types.getFields().stream().map(Type::getName).toList());
        }
        return types.getType(column.name());
    }

    /**
     * @throws FileSchemaException if the file lacks a column, or has it with another type
     * @throws IOException if the file cannot be read
     */
    static ParquetReader open(
            ChunkSchema schema,
            int chunkBytes,
            ColumnarSplit split,
            ColumnarPosition from,
            ColumnConditions conditions)
            throws IOException {
        ParquetFile file = ParquetFile.open(split.path(), split.fileBytes());
        try {
            ParquetReader reader = new ParquetReader(file, schema, chunkBytes, split, conditions);
            reader.startAt(from);
            return reader;
        } catch (IllegalArgumentException e) {
            file.close();
            throw new IOException(e.getMessage() + ", file=" + split.path(), e);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private void startAt(ColumnarPosition from) throws IOException {
        if (from.isStart()) {
            return;
        }
        do {
            if (!groups.advance()) {
                throw new IOException(
                        "File has changed since the checkpoint: no row group starts at offset="
                                + from.offset()
                                + ", path="
                                + path);
            }
        } while (groups.offset() != from.offset()
                || (from.rows() > groups.endRow() && groups.hasMorePieces()));
        if (from.rows() < groups.firstRow() || from.rows() > groups.endRow()) {
            throw new IOException(
                    "File has changed since the checkpoint: row=%d, rows of the split=%d to %d, path=%s"
                            .formatted(from.rows(), groups.firstRow(), groups.endRow(), path));
        }
        startPiece(from.rows());
    }

    @Override
    public @Nullable Chunk read() throws IOException {
        if (row == endRow) {
            if (!groups.advance()) {
                return null;
            }
            startPiece(groups.firstRow());
        }
        Chunk encoded = readEncoded();
        if (encoded != null) {
            return encoded;
        }
        while (!builder.isFull() && (row < endRow || continueGroup())) {
            readBatch();
        }
        return batch.seal();
    }

    /**
     * Reads the next rows to an encoded chunk.
     *
     * @return null if they are too few, if encoding them does not pay, or if some may be dropped
     */
    private @Nullable Chunk readEncoded() throws IOException {
        if (encodedRows == null || !encodedRows.pays()) {
            return null;
        }
        int rows = nextRows(builder.capacityRows());
        if (rows <= builder.capacityRows() / 2 || conditions.pruner(rows) != null) {
            return null;
        }
        try {
            Chunk chunk = encodedRows.read(row, rows);
            row += rows;
            return chunk;
        } catch (IOException | RuntimeException e) {
            throw damaged(e, encodedRows.decoding());
        }
    }

    private boolean continueGroup() throws IOException {
        if (!groups.hasMorePieces()) {
            return false;
        }
        groups.advance();
        startPiece(groups.firstRow());
        return true;
    }

    /** Starts the current piece of a row group at a row of it. */
    private void startPiece(long firstRow) throws IOException {
        if (groups.offset() != groupOffset) {
            groupOffset = groups.offset();
            dictionaries = new ColumnDictionary[sources.length];
            Arrays.setAll(dictionaries, i -> new ColumnDictionary(descriptors[i], sources[i]));
        }
        row = firstRow;
        endRow = groups.endRow();
        if (row < endRow) {
            openPiece();
        }
    }

    /** Reads the pages of the current piece in which a row may meet the conditions. */
    private void openPiece() throws IOException {
        try {
            if (pages != null) {
                pages.close();
            }
            RowGroups.Part part = groups.read(conditions.known());
            pages = part == null ? null : part.pages();
            file.readBuffers().trim();
            ranges = new ArrayDeque<>(part == null ? List.of() : part.ranges());
            if (part == null) {
                startPages(new ColumnPages[0]);
                return;
            }
            ColumnPages[] columns = new ColumnPages[sources.length];
            for (int i = 0; i < columns.length; i++) {
                columns[i] =
                        new ColumnPages(
                                schema.column(i),
                                sources[i],
                                new PageCursor(
                                        descriptors[i],
                                        sources[i],
                                        part.pages().getPageReader(descriptors[i]),
                                        dictionaries[i],
                                        file.decompressors()),
                                RowBatch.MAX_ROWS);
            }
            startPages(columns);
        } catch (IOException | RuntimeException e) {
            throw damaged(e, "");
        }
    }

    private void startPages(ColumnPages[] columns) {
        batch.startPages(columns);
        if (encodedRows != null) {
            encodedRows.startPages(columns);
        }
    }

    /** Adds rows of the batch that meet the conditions; decodes the next batch if none are left. */
    private void readBatch() throws IOException {
        if (!batch.hasRest()) {
            int room = builder.capacityRows() - builder.rowCount();
            int rows = nextRows(Math.min(room, RowBatch.MAX_ROWS));
            if (rows == 0) {
                return;
            }
            try {
                batch.decode(row, rows, conditions.pruner(rows));
            } catch (IOException | RuntimeException e) {
                throw damaged(e, batch.decoding());
            }
        }
        int added = batch.addRows();
        rowsSkipped += batch.nextRow() - row - added;
        row = batch.nextRow();
    }

    /**
     * Moves to the next row whose pages are there, and returns how many such rows follow, at most
     * the given number.
     */
    private int nextRows(int most) {
        while (!ranges.isEmpty() && ranges.element().to < row) {
            ranges.remove();
        }
        RowRanges.Range range = ranges.peek();
        long start = range == null ? endRow : Math.max(range.from, row);
        rowsSkipped += start - row;
        row = start;
        return range == null ? 0 : (int) Math.min(range.to + 1 - start, most);
    }

    private IOException damaged(Exception e, String column) {
        return new IOException(
                "Cannot read a row group of a Parquet file: file="
                        + path
                        + ", rowGroup="
                        + groups.number()
                        + (column.isEmpty() ? "" : ", column=" + column)
                        + ", fromRow="
                        + row
                        + ", cause="
                        + e.getMessage(),
                e);
    }

    @Override
    public long rowsSkipped() {
        return rowsSkipped;
    }

    @Override
    public ColumnarPosition position() {
        return new ColumnarPosition(groupOffset, row);
    }

    @Override
    public void close() throws IOException {
        if (pages != null) {
            pages.close();
        }
        file.close();
    }
}
