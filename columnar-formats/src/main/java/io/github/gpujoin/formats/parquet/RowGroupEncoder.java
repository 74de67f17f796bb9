// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/**
 * Encodes a row group. Columns that are arrays of values become pages directly; parquet-java
 * encodes values of other columns one by one. Not thread-safe.
 */
final class RowGroupEncoder implements AutoCloseable {

    private final MessageType types;
    private final ColumnChunkPageWriteStore pages;

    RowGroupEncoder(MessageType types) {
        this.types = types;
        this.pages =
                new ColumnChunkPageWriteStore(
                        new SnappyPageCompressor(),
                        types,
                        new HeapByteBufferAllocator(),
                        ParquetProperties.DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH,
                        true);
    }

    /** Returns the pages of all columns, which are valid until {@link #close}. */
    ColumnChunkPageWriteStore encode(RowGroupRows group) throws IOException {
        List<Integer> others = new ArrayList<>();
        for (int column = 0; column < types.getFieldCount(); column++) {
            ColumnDescriptor descriptor = types.getColumns().get(column);
            PrimitiveTypeName type = descriptor.getPrimitiveType().getPrimitiveTypeName();
            if (FixedWidthPages.isSupported(type) && group.isFixed(column)) {
                new FixedWidthPages(descriptor, pages.getPageWriter(descriptor))
                        .write(group, column);
            } else {
                others.add(column);
            }
        }
        if (!others.isEmpty()) {
            new VariableWidthPages(types, pages, others).write(group);
        }
        return pages;
    }

    @Override
    public void close() {
        pages.close();
    }
}
