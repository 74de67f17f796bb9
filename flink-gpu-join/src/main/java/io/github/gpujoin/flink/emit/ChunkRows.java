// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * Rows of chunks as Flink Rows, for side outputs: all columns that travelled, as they did, {@value
 * RecordLayout#TIMESTAMP} among them; what a change does is the Row's kind. Not thread-safe.
 */
public final class ChunkRows {

    private final ChunkCursor cursor;
    private final List<Integer> columns;
    private final int changeColumn;
    private final int[] nullBits;
    private final int nullKeysColumn;

    /**
     * @param side number of a dimension, or {@link ChunkDescriptor#FACTS}
     */
    public ChunkRows(JoinSpec spec, int side) {
        boolean ofFacts = side == ChunkDescriptor.FACTS;
        ChunkSchema schema = ofFacts ? spec.factSchema() : spec.dimensions().get(side).schema();
        this.cursor = new ChunkCursor(schema);
        this.columns = columns(schema);
        this.changeColumn = ofFacts ? -1 : spec.dimensions().get(side).changeColumn();
        this.nullBits = new int[schema.size()];
        this.nullKeysColumn = ofFacts ? spec.nullKeysColumn() : JoinSpec.NO_NULL_KEYS;
        for (int d = 0; ofFacts && d < spec.dimensions().size(); d++) {
            nullBits[spec.dimensions().get(d).factKeyColumn()] |= 1 << d;
        }
    }

    private static List<Integer> columns(ChunkSchema schema) {
        List<Integer> columns = new ArrayList<>();
        for (int i = 0; i < schema.size(); i++) {
            String name = schema.column(i).name();
            if (!RecordLayout.isReserved(name) || name.equals(RecordLayout.TIMESTAMP)) {
                columns.add(i);
            }
        }
        return columns;
    }

    /** Type of the Rows of chunks of a schema. */
    public static RowTypeInfo typeOf(ChunkSchema schema) {
        List<Column> columns = columns(schema).stream().map(schema::column).toList();
        return new RowTypeInfo(
                columns.stream()
                        .map(column -> typeOf(column.type()))
                        .toArray(TypeInformation<?>[]::new),
                columns.stream().map(Column::name).toArray(String[]::new));
    }

    private static TypeInformation<?> typeOf(ColumnType type) {
        return switch (type) {
            case INT8 -> Types.BYTE;
            case INT16 -> Types.SHORT;
            case INT32 -> Types.INT;
            case INT64 -> Types.LONG;
            case FLOAT32 -> Types.FLOAT;
            case FLOAT64 -> Types.DOUBLE;
            case STRING -> Types.STRING;
            case BYTES -> PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;
        };
    }

    public Row of(Chunk chunk, int row) {
        cursor.at(chunk, row);
        int nullKeys = nullKeysColumn == JoinSpec.NO_NULL_KEYS ? 0 : cursor.getInt(nullKeysColumn);
        Row result = Row.withNames(RowKind.INSERT);
        if (changeColumn >= 0 && cursor.getInt(changeColumn) == RowChange.DELETE.code()) {
            result.setKind(RowKind.DELETE);
        }
        for (int column : columns) {
            boolean isNull = (nullBits[column] & nullKeys) != 0 || cursor.isNull(column);
            String name = cursor.schema().column(column).name();
            result.setField(name, isNull ? null : value(column));
        }
        return result;
    }

    private Object value(int column) {
        return switch (cursor.schema().column(column).type()) {
            case INT8 -> (byte) cursor.getInt(column);
            case INT16 -> (short) cursor.getInt(column);
            case INT32 -> cursor.getInt(column);
            case INT64 -> cursor.getLong(column);
            case FLOAT32 -> (float) cursor.getDouble(column);
            case FLOAT64 -> cursor.getDouble(column);
            case STRING -> cursor.getString(column);
            case BYTES -> cursor.getBytes(column);
        };
    }
}
