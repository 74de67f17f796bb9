// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.impl.ColumnWriteStoreV1;
import org.apache.parquet.column.page.PageWriteStore;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/**
 * Writes columns that are texts, bytes or nullable in some chunk, value by value with parquet-java,
 * which chooses their encodings. Not thread-safe.
 */
final class VariableWidthPages {

    private final MessageType types;
    private final List<Integer> columns;
    private final ColumnWriteStoreV1 store;

    /** By column of the file; null for other columns. */
    private final ColumnWriter[] writers;

    /**
     * @param columns of the file to write
     */
    VariableWidthPages(MessageType types, PageWriteStore pages, List<Integer> columns) {
        this.types = types;
        this.columns = columns;
        MessageType written =
                new MessageType(types.getName(), columns.stream().map(types::getType).toList());
        this.store =
                new ColumnWriteStoreV1(
                        written,
                        pages,
                        ParquetProperties.builder()
                                .withWriterVersion(ParquetProperties.WriterVersion.PARQUET_1_0)
                                .build());
        this.writers = new ColumnWriter[types.getFieldCount()];
        for (int column : columns) {
            writers[column] = store.getColumnWriter(descriptor(column));
        }
    }

    private ColumnDescriptor descriptor(int column) {
        return types.getColumns().get(column);
    }

    void write(RowGroupRows group) {
        for (RowGroupRows.Part part : group.parts()) {
            write(part);
        }
        store.flush();
        store.close();
    }

    private void write(RowGroupRows.Part part) {
        Chunk chunk = part.chunk();
        int[] fileColumns = fileColumns(part);
        int[] fixed = columns.stream().mapToInt(Integer::intValue).filter(part::isFixed).toArray();
        int[] missing =
                columns.stream().mapToInt(Integer::intValue).filter(part::isMissing).toArray();
        for (int row = 0; row < chunk.rowCount(); row++) {
            for (int column : missing) {
                writers[column].writeNull(0, 0);
            }
            for (int column : fixed) {
                int index = part.columns()[column];
                ColumnType type = chunk.schema().column(index).type();
                long at = chunk.columnStart(index) + (long) type.widthBytes() * row;
                write(column, type, chunk.array(), at);
            }
            writeVariableWidth(chunk, row, fileColumns);
            store.endRecord();
        }
    }

    /** Returns the column of the file for each column of the chunk, or -1. */
    private static int[] fileColumns(RowGroupRows.Part part) {
        int[] fileColumns = new int[part.chunk().schema().size()];
        Arrays.fill(fileColumns, -1);
        for (int column = 0; column < part.columns().length; column++) {
            if (!part.isMissing(column)) {
                fileColumns[part.columns()[column]] = column;
            }
        }
        return fileColumns;
    }

    private void writeVariableWidth(Chunk chunk, int row, int[] fileColumns) {
        if (!chunk.schema().hasVariableWidth()) {
            return;
        }
        byte[] array = Objects.requireNonNull(chunk.array());
        long at = chunk.variableWidthStart(row);
        for (int index = 0; index < fileColumns.length; index++) {
            if (chunk.schema().column(index).isFixed()) {
                continue;
            }
            int lengthBytes = Memory.getInt(array, at);
            at += Integer.BYTES;
            int column = fileColumns[index];
            if (column >= 0) {
                writeValue(column, chunk.schema().column(index).type(), array, at, lengthBytes);
            }
            at += Math.max(0, lengthBytes);
        }
    }

    private void writeValue(int column, ColumnType type, byte[] array, long at, int lengthBytes) {
        if (lengthBytes < 0) {
            writers[column].writeNull(0, 0);
        } else if (type.isFixedWidth()) {
            write(column, type, array, at);
        } else {
            int start = (int) (at - Memory.BYTES);
            writers[column].write(
                    Binary.fromConstantByteArray(array, start, lengthBytes), 0, level(column));
        }
    }

    private void write(int column, ColumnType type, byte[] array, long at) {
        ColumnWriter writer = writers[column];
        int level = level(column);
        if (type == ColumnType.FLOAT32) {
            writer.write(Float.intBitsToFloat(Memory.getInt(array, at)), 0, level);
        } else if (type == ColumnType.FLOAT64) {
            writer.write(Double.longBitsToDouble(Memory.getLong(array, at)), 0, level);
        } else {
            write(writer, descriptor(column), Memory.getInteger(array, at, type.widthBytes()));
        }
    }

    private static void write(ColumnWriter writer, ColumnDescriptor descriptor, long value) {
        PrimitiveTypeName type = descriptor.getPrimitiveType().getPrimitiveTypeName();
        int level = descriptor.getMaxDefinitionLevel();
        switch (type) {
            case BOOLEAN -> writer.write(value != 0, 0, level);
            case INT32 -> writer.write((int) value, 0, level);
            case INT64 -> writer.write(value, 0, level);
            default ->
                    throw new IllegalArgumentException(
                            "Integer cannot be written to the column: column=" + descriptor);
        }
    }

    private int level(int column) {
        return descriptor(column).getMaxDefinitionLevel();
    }
}
