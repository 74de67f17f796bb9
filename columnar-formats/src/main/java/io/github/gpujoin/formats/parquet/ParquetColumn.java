// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

/**
 * How the values of a Parquet column become those of a chunk's column.
 *
 * @param type of the chunk's column
 * @param conversion of each value
 */
record ParquetColumn(ColumnType type, Conversion conversion) {

    /** What is done with a value as it is stored. */
    enum Conversion {
        NONE,
        /** 32 bits become an INT64 that is not negative. */
        UNSIGNED,
        /** Two's complement bytes, highest first, become an INT64: a count of the last digit. */
        DECIMAL,
        /** Nanoseconds of a day and a Julian day become INT64 nanoseconds since 1970. */
        INT96
    }

    private static final int MAX_LONG_DIGITS = 18;

    /**
     * Returns how a column of a file is read.
     *
     * @throws IllegalArgumentException if it is nested, repeated, or of a type that chunks have not
     */
    static ParquetColumn of(Type column) {
        if (!column.isPrimitive() || column.isRepetition(Type.Repetition.REPEATED)) {
            throw refused(column, "nested");
        }
        PrimitiveType type = column.asPrimitiveType();
        LogicalTypeAnnotation annotation = column.getLogicalTypeAnnotation();
        if (annotation == null) {
            return plain(type);
        }
        if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            return decimal(type, decimal);
        }
        if (annotation instanceof StringLogicalTypeAnnotation
                || annotation instanceof EnumLogicalTypeAnnotation
                || annotation instanceof JsonLogicalTypeAnnotation) {
            return as(ColumnType.STRING);
        }
        if (annotation instanceof IntLogicalTypeAnnotation integer) {
            return integer(column, integer);
        }
        if (annotation instanceof DateLogicalTypeAnnotation
                || annotation instanceof TimeLogicalTypeAnnotation
                || annotation instanceof TimestampLogicalTypeAnnotation
                || annotation instanceof UUIDLogicalTypeAnnotation) {
            return plain(type);
        }
        throw refused(column, "of an unknown type");
    }

    private static ParquetColumn plain(PrimitiveType type) {
        return switch (type.getPrimitiveTypeName()) {
            case BOOLEAN -> as(ColumnType.INT8);
            case INT32 -> as(ColumnType.INT32);
            case INT64 -> as(ColumnType.INT64);
            case INT96 -> new ParquetColumn(ColumnType.INT64, Conversion.INT96);
            case FLOAT -> as(ColumnType.FLOAT32);
            case DOUBLE -> as(ColumnType.FLOAT64);
            case BINARY, FIXED_LEN_BYTE_ARRAY -> as(ColumnType.BYTES);
        };
    }

    private static ParquetColumn decimal(PrimitiveType type, DecimalLogicalTypeAnnotation decimal) {
        return switch (type.getPrimitiveTypeName()) {
            case INT32 -> as(ColumnType.INT32);
            case INT64 -> as(ColumnType.INT64);
            default ->
                    decimal.getPrecision() <= MAX_LONG_DIGITS
                            ? new ParquetColumn(ColumnType.INT64, Conversion.DECIMAL)
                            : as(ColumnType.BYTES);
        };
    }

    private static ParquetColumn integer(Type column, IntLogicalTypeAnnotation integer) {
        if (integer.isSigned()) {
            return switch (integer.getBitWidth()) {
                case 8 -> as(ColumnType.INT8);
                case 16 -> as(ColumnType.INT16);
                case 32 -> as(ColumnType.INT32);
                default -> as(ColumnType.INT64);
            };
        }
        return switch (integer.getBitWidth()) {
            case 8 -> as(ColumnType.INT16);
            case 16 -> as(ColumnType.INT32);
            case 32 -> new ParquetColumn(ColumnType.INT64, Conversion.UNSIGNED);
            default -> throw refused(column, "an unsigned integer of 64 bits");
        };
    }

    private static ParquetColumn as(ColumnType type) {
        return new ParquetColumn(type, Conversion.NONE);
    }

    /** Whether values are read as integers or bits of floats, not as byte sequences. */
    boolean isInteger() {
        return type.isFixedWidth();
    }

    /** Returns the column of a chunk for all values of a column of a file, nulls included. */
    static Column column(Type column) {
        ColumnType type = of(column).type();
        return column.isRepetition(Type.Repetition.OPTIONAL)
                ? Column.nullable(column.getName(), type)
                : Column.of(column.getName(), type);
    }

    private static IllegalArgumentException refused(Type column, String why) {
        return new IllegalArgumentException(
                "Column of a Parquet file is "
                        + why
                        + ". Leave it out, or convert it: column="
                        + column.getName()
                        + ", type="
                        + (column.isPrimitive() ? column.asPrimitiveType() : "group"));
    }
}
