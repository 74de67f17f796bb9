// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout.testing;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;

/**
 * Chunks from rows of boxed values, one per column of the schema; null where nullable. Integers of
 * any width are truncated to the width of their column.
 */
public final class TestChunks {

    private TestChunks() {}

    public static Chunk of(ChunkSchema schema, Object[]... rows) {
        return of(schema, ChunkDescriptor.FACTS, List.of(rows));
    }

    public static Chunk of(ChunkSchema schema, int dimension, List<Object[]> rows) {
        int rowBytes = Math.max(1, schema.fixedRowBytes() + 8 * schema.variableWidthColumnCount());
        ChunkBuilder builder = new ChunkBuilder(schema, Math.max(1, rows.size()) * rowBytes);
        for (Object[] row : rows) {
            addRow(builder, row);
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    public static void addRow(ChunkBuilder builder, Object... row) {
        ChunkSchema schema = builder.schema();
        for (int i = 0; i < schema.size(); i++) {
            if (schema.column(i).isFixed()) {
                putFixed(builder, i, schema.column(i).type(), row[i]);
            } else {
                addVariableWidth(builder, schema.column(i).type(), row[i]);
            }
        }
        builder.endRow();
    }

    private static void putFixed(ChunkBuilder builder, int column, ColumnType type, Object value) {
        switch (type) {
            case INT8, INT16, INT32, INT64 ->
                    builder.putInteger(column, ((Number) value).longValue());
            case FLOAT32 -> builder.putFloat(column, (Float) value);
            case FLOAT64 -> builder.putDouble(column, (Double) value);
            default -> throw new AssertionError("not fixed: " + type);
        }
    }

    private static void addVariableWidth(ChunkBuilder builder, ColumnType type, Object value) {
        if (value == null) {
            builder.addNull();
            return;
        }
        switch (type) {
            case INT8, INT16, INT32, INT64 ->
                    builder.addInteger(type.widthBytes(), ((Number) value).longValue());
            case FLOAT32 -> builder.addInt(Float.floatToRawIntBits((Float) value));
            case FLOAT64 -> builder.addLong(Double.doubleToRawLongBits((Double) value));
            case STRING -> builder.addString((String) value);
            case BYTES -> builder.addBytes((byte[]) value, 0, ((byte[]) value).length);
        }
    }
}
