// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a row group. Columns that are arrays of values become pages directly; parquet-java
 * encodes values of other columns one by one. Not thread-safe.
 */
final class RowGroupEncoder implements AutoCloseable {

    private final MessageType types;
    private final DictionaryAttempts attempts;
    private final SnappyPageCompressor compressor = new SnappyPageCompressor();
    private final ColumnChunkPageWriteStore pages;

    /** Dictionaries of columns that depend on no other one, by column. */
    private final Map<Integer, IntegerDictionary> dictionaries = new LinkedHashMap<>();

    RowGroupEncoder(MessageType types, DictionaryAttempts attempts) {
        this.types = types;
        this.attempts = attempts;
        this.pages =
                new ColumnChunkPageWriteStore(
                        compressor,
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
                new FixedWidthPages(descriptor, pages.getPageWriter(descriptor), compressor)
                        .write(group, column, dictionary(group, column));
            } else {
                others.add(column);
            }
        }
        if (!others.isEmpty()) {
            new VariableWidthPages(types, pages, others).write(group);
        }
        return pages;
    }

    /** Returns the dictionary of a column, or null if it has none. */
    private @Nullable IntegerDictionary dictionary(RowGroupRows group, int column) {
        PrimitiveTypeName type = types.getType(column).asPrimitiveType().getPrimitiveTypeName();
        if (type != PrimitiveTypeName.INT32 && type != PrimitiveTypeName.INT64) {
            return null;
        }
        for (Map.Entry<Integer, IntegerDictionary> entry : dictionaries.entrySet()) {
            IntegerDictionary dependent =
                    entry.getValue().dependent(column, hasEqualLevels(entry.getKey(), column));
            if (dependent != null) {
                return dependent;
            }
        }
        if (!attempts.next(column)) {
            return null;
        }
        IntegerDictionary dictionary = IntegerDictionary.of(group, column);
        if (dictionary == null) {
            attempts.failed(column);
        } else {
            dictionaries.put(column, dictionary);
        }
        return dictionary;
    }

    private boolean hasEqualLevels(int column, int other) {
        return types.getType(column).isRepetition(Type.Repetition.OPTIONAL)
                == types.getType(other).isRepetition(Type.Repetition.OPTIONAL);
    }

    @Override
    public void close() {
        pages.close();
    }
}
