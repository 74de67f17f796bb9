// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ColumnType;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.BasicTypeInfo;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/** Kind of a record's field, which determines the column type of its values. */
public enum FieldKind {
    INT(ColumnType.INT32),
    LONG(ColumnType.INT64),
    FLOAT(ColumnType.FLOAT32),
    DOUBLE(ColumnType.FLOAT64),
    SHORT(ColumnType.INT16),
    BYTE(ColumnType.INT8),
    CHAR(ColumnType.INT32),
    BOOLEAN(ColumnType.INT32),
    STRING(ColumnType.STRING),
    BYTES(ColumnType.BYTES),
    /** Any other type, as bytes of its Flink serializer. */
    SERIALIZED(ColumnType.BYTES);

    private static final Map<TypeInformation<?>, FieldKind> BY_TYPE =
            Map.of(
                    BasicTypeInfo.INT_TYPE_INFO, INT,
                    BasicTypeInfo.LONG_TYPE_INFO, LONG,
                    BasicTypeInfo.FLOAT_TYPE_INFO, FLOAT,
                    BasicTypeInfo.DOUBLE_TYPE_INFO, DOUBLE,
                    BasicTypeInfo.SHORT_TYPE_INFO, SHORT,
                    BasicTypeInfo.BYTE_TYPE_INFO, BYTE,
                    BasicTypeInfo.CHAR_TYPE_INFO, CHAR,
                    BasicTypeInfo.BOOLEAN_TYPE_INFO, BOOLEAN,
                    BasicTypeInfo.STRING_TYPE_INFO, STRING,
                    PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO, BYTES);

    private final ColumnType columnType;

    FieldKind(ColumnType columnType) {
        this.columnType = columnType;
    }

    public ColumnType columnType() {
        return columnType;
    }

    /** Whether a field of this kind can be a join key. */
    public boolean isKey() {
        return this == INT || this == LONG || this == SHORT || this == BYTE;
    }

    /** Returns the field's value of an integer in its column. */
    public Object ofInteger(long value) {
        return switch (this) {
            case INT -> (int) value;
            case LONG -> value;
            case SHORT -> (short) value;
            case BYTE -> (byte) value;
            case CHAR -> (char) value;
            case BOOLEAN -> value != 0;
            default -> throw new IllegalStateException("Field is not an integer: kind=" + this);
        };
    }

    public static FieldKind of(TypeInformation<?> type) {
        return BY_TYPE.getOrDefault(type, SERIALIZED);
    }

    /** Returns the kind of a column without a record. */
    static FieldKind of(ColumnType type) {
        return switch (type) {
            case INT8 -> BYTE;
            case INT16 -> SHORT;
            case INT32 -> INT;
            case INT64 -> LONG;
            case FLOAT32 -> FLOAT;
            case FLOAT64 -> DOUBLE;
            case STRING -> STRING;
            case BYTES -> BYTES;
        };
    }

    /** Returns the type of a field of this kind. */
    TypeInformation<?> type() {
        return BY_TYPE.entrySet().stream()
                .filter(entry -> entry.getValue() == this)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow();
    }
}
