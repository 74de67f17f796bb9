// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/** Reads the row groups of one split. Used by one thread at a time. */
final class ParquetReader implements ColumnarReader {

    /** Rows that are decoded at once: their values stay in the processor's cache. */
    private static final int BATCH_ROWS = 1024;

    private final ParquetFileReader file;
    private final Path path;
    private final ChunkSchema schema;
    private final ParquetColumn[] sources;
    private final ColumnDescriptor[] descriptors;
    private final ChunkBuilder builder;

    /** Numbers of the row groups in the split. */
    private final List<Integer> groups;

    private int nextGroup;

    /** Of the current row group. */
    private ColumnPages[] columns = new ColumnPages[0];

    private long groupOffset = ColumnarPosition.START.offset();
    private long groupRows;
    private long rowsRead;

    private ParquetReader(
            ParquetFileReader file, ChunkSchema schema, int chunkBytes, ColumnarSplit split) {
        this.file = file;
        this.path = split.path();
        this.schema = schema;
        this.builder = new ChunkBuilder(schema, chunkBytes);
        MessageType types = file.getFileMetaData().getSchema();
        this.sources = new ParquetColumn[schema.size()];
        this.descriptors = new ColumnDescriptor[schema.size()];
        List<Type> wanted = new ArrayList<>();
        for (int i = 0; i < sources.length; i++) {
            Column column = schema.column(i);
            Type type = requireColumn(types, column);
            sources[i] = ParquetColumn.of(type);
            requireReadable(column, sources[i]);
            descriptors[i] = types.getColumnDescription(new String[] {column.name()});
            wanted.add(type);
        }
        file.setRequestedSchema(new MessageType(types.getName(), wanted));
        this.groups = new ArrayList<>();
        List<BlockMetaData> all = file.getRowGroups();
        for (int i = 0; i < all.size(); i++) {
            BlockMetaData group = all.get(i);
            if (split.contains(group.getStartingPos() + group.getCompressedSize() / 2)) {
                groups.add(i);
            }
        }
    }

    private Type requireColumn(MessageType types, Column column) {
        if (!types.containsField(column.name())) {
            throw new IllegalArgumentException(
                    "Column is not in the Parquet file: column="
                            + column.name()
                            + ", columns="
                            + types.getFields().stream().map(Type::getName).toList());
        }
        return types.getType(column.name());
    }

    private static void requireReadable(Column column, ParquetColumn source) {
        boolean isWider =
                column.type().isInteger()
                        && source.type().isInteger()
                        && column.type().widthBytes() >= source.type().widthBytes();
        if (column.type() != source.type() && !isWider) {
            throw new IllegalArgumentException(
                    "Column has another type in the Parquet file: column="
                            + column
                            + ", file="
                            + source.type());
        }
    }

    /** Opens a file, to read its metadata. */
    static ParquetFileReader open(Path path, long lengthBytes) throws IOException {
        ParquetReadOptions options =
                ParquetReadOptions.builder(new PlainParquetConfiguration())
                        .usePageChecksumVerification()
                        .build();
        try {
            return ParquetFileReader.open(new FlinkInputFile(path, lengthBytes), options);
        } catch (FileNotFoundException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    "Not a Parquet file, or damaged: file=" + path + ", cause=" + e.getMessage(),
                    e);
        }
    }

    /**
     * @throws IOException if the file cannot be read, lacks a column, or has it with another type
     */
    static ParquetReader open(
            ChunkSchema schema, int chunkBytes, ColumnarSplit split, ColumnarPosition from)
            throws IOException {
        ParquetFileReader file = open(split.path(), split.fileBytes());
        try {
            ParquetReader reader = new ParquetReader(file, schema, chunkBytes, split);
            reader.startAt(from);
            return reader;
        } catch (IllegalArgumentException e) {
            file.close();
            throw new IOException(e.getMessage() + ", path=" + split.path(), e);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private void startAt(ColumnarPosition from) throws IOException {
        if (from.isStart()) {
            return;
        }
        while (groupOffset != from.offset()) {
            if (!startGroup(from.offset())) {
                throw new IOException(
                        "File has changed since the checkpoint: no row group starts at offset="
                                + from.offset()
                                + ", path="
                                + path);
            }
        }
        while (rowsRead < from.rows() && fill(from.rows() - rowsRead) > 0) {
            if (builder.isFull()) {
                builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
            }
        }
        if (!builder.isEmpty()) {
            builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
        }
    }

    @Override
    public @Nullable Chunk read() throws IOException {
        while (rowsRead == groupRows) {
            if (!startGroup(ColumnarPosition.START.offset())) {
                return null;
            }
        }
        while (!builder.isFull() && rowsRead < groupRows) {
            fill(groupRows - rowsRead);
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /**
     * Starts the next row group of the split.
     *
     * @param offset at which it is read; others are skipped; the offset of a start reads all
     * @return false if there is none
     */
    private boolean startGroup(long offset) throws IOException {
        if (nextGroup == groups.size()) {
            return false;
        }
        int number = groups.get(nextGroup++);
        BlockMetaData group = file.getRowGroups().get(number);
        groupOffset = group.getStartingPos();
        groupRows = group.getRowCount();
        rowsRead = 0;
        if (offset != ColumnarPosition.START.offset() && offset != groupOffset) {
            return true;
        }
        try {
            PageReadStore pages = file.readRowGroup(number);
            columns = new ColumnPages[sources.length];
            for (int i = 0; i < columns.length; i++) {
                columns[i] =
                        new ColumnPages(
                                descriptors[i],
                                schema.column(i),
                                sources[i],
                                pages.getPageReader(descriptors[i]),
                                BATCH_ROWS);
            }
            return true;
        } catch (IOException | RuntimeException e) {
            throw damaged(e);
        }
    }

    /** Decodes up to {@code most} rows to the builder, fewer if it is full; returns how many. */
    private int fill(long most) throws IOException {
        int room = builder.capacityRows() - builder.rowCount();
        int rows = (int) Math.min(Math.min(most, room), BATCH_ROWS);
        int current = 0;
        try {
            for (; current < columns.length; current++) {
                if (schema.column(current).isFixed()) {
                    int widthBytes = schema.column(current).type().widthBytes();
                    int at = builder.columnOffset(current) + widthBytes * builder.rowCount();
                    columns[current].read(rows, builder.array(), at);
                } else {
                    columns[current].load(rows);
                }
            }
        } catch (IOException | RuntimeException e) {
            throw damaged(e, schema.column(current).name());
        }
        if (schema.hasVariableWidth()) {
            appendRows(rows);
        } else {
            builder.advance(rows);
        }
        rowsRead += rows;
        return rows;
    }

    private void appendRows(int rows) {
        for (int row = 0; row < rows; row++) {
            for (int i = 0; i < columns.length; i++) {
                if (!schema.column(i).isFixed()) {
                    columns[i].append(builder, row);
                }
            }
            builder.endRow();
        }
    }

    private IOException damaged(Exception e) {
        return damaged(e, "");
    }

    private IOException damaged(Exception e, String column) {
        return new IOException(
                "Cannot read a row group of a Parquet file: file="
                        + path
                        + ", rowGroup="
                        + (nextGroup == 0 ? 0 : groups.get(nextGroup - 1))
                        + (column.isEmpty() ? "" : ", column=" + column)
                        + ", rowsRead="
                        + rowsRead
                        + ", cause="
                        + e.getMessage(),
                e);
    }

    @Override
    public ColumnarPosition position() {
        return new ColumnarPosition(groupOffset, rowsRead);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
