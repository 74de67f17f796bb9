// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/** Maps the columns of a Parquet file to the types of Flink's rows. */
final class ParquetColumns {

    private ParquetColumns() {}

    /**
     * @throws IllegalArgumentException if a column is nested or its type is unsupported
     */
    static RowType rowType(MessageType schema) {
        List<RowType.RowField> fields = new ArrayList<>();
        for (Type column : schema.getFields()) {
            if (!column.isPrimitive() || column.isRepetition(Type.Repetition.REPEATED)) {
                throw refused(column);
            }
            boolean nullable = column.isRepetition(Type.Repetition.OPTIONAL);
            fields.add(new RowType.RowField(column.getName(), type(column).copy(nullable)));
        }
        return new RowType(false, fields);
    }

    private static LogicalType type(Type column) {
        LogicalTypeAnnotation annotation = column.getLogicalTypeAnnotation();
        if (annotation == null) {
            return plain(column);
        }
        if (annotation instanceof StringLogicalTypeAnnotation
                || annotation instanceof EnumLogicalTypeAnnotation
                || annotation instanceof JsonLogicalTypeAnnotation) {
            return VarCharType.STRING_TYPE;
        }
        if (annotation instanceof DateLogicalTypeAnnotation) {
            return new DateType();
        }
        if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            return new DecimalType(decimal.getPrecision(), decimal.getScale());
        }
        if (annotation instanceof TimestampLogicalTypeAnnotation timestamp) {
            int digits = digits(timestamp.getUnit());
            return timestamp.isAdjustedToUTC()
                    ? new LocalZonedTimestampType(digits)
                    : new TimestampType(digits);
        }
        if (annotation instanceof IntLogicalTypeAnnotation integer && integer.isSigned()) {
            return switch (integer.getBitWidth()) {
                case 8 -> new TinyIntType();
                case 16 -> new SmallIntType();
                case 32 -> new IntType();
                default -> new BigIntType();
            };
        }
        throw refused(column);
    }

    private static int digits(TimeUnit unit) {
        return switch (unit) {
            case MILLIS -> 3;
            case MICROS -> 6;
            case NANOS -> 9;
        };
    }

    private static LogicalType plain(Type column) {
        return switch (column.asPrimitiveType().getPrimitiveTypeName()) {
            case BOOLEAN -> new BooleanType();
            case INT32 -> new IntType();
            case INT64 -> new BigIntType();
            case INT96 -> new TimestampType(9);
            case FLOAT -> new FloatType();
            case DOUBLE -> new DoubleType();
            case BINARY, FIXED_LEN_BYTE_ARRAY -> new VarBinaryType(VarBinaryType.MAX_LENGTH);
        };
    }

    private static IllegalArgumentException refused(Type column) {
        return new IllegalArgumentException(
                "Parquet column is nested, unsigned or of an unknown type: column="
                        + column.toString().replaceAll("\\s+", " "));
    }
}
