// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.run.Cli.UserError;
import java.io.Serializable;
import java.time.LocalDate;
import java.time.LocalTime;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.jspecify.annotations.Nullable;

/**
 * Reads the join key of a row. The key is null if its field is null.
 *
 * @param comparison common type of the keys of both files
 * @param field reads the key field of a row
 */
record RecordKey(Comparison comparison, RowData.FieldGetter field)
        implements KeySelector<RowData, Object>, Serializable {

    private static final long NANOS_PER_MILLISECOND = 1_000_000;

    /** The types as which keys are compared. */
    enum Comparison {
        INTEGER(Types.LONG),
        TEXT(Types.STRING),
        BOOLEAN(Types.BOOLEAN),
        FLOAT(Types.FLOAT),
        DOUBLE(Types.DOUBLE),
        DECIMAL(Types.BIG_DEC),
        BYTES(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO),
        DATE(Types.LOCAL_DATE),
        TIME(Types.LOCAL_TIME),
        TIMESTAMP(Types.LOCAL_DATE_TIME),
        INSTANT(Types.INSTANT);

        private final TypeInformation<?> type;

        Comparison(TypeInformation<?> type) {
            this.type = type;
        }

        @SuppressWarnings("unchecked")
        TypeInformation<Object> type() {
            return (TypeInformation<Object>) type;
        }

        /**
         * Returns the common type of the keys of two files. It is INTEGER if all keys of both files
         * are 64-bit integers, else the type that both columns share.
         *
         * @throws UserError if the types differ or the type cannot be a key
         */
        static Comparison of(RecordFile build, RecordFile probe) {
            if (build.hasIntegerKeys() && probe.hasIntegerKeys()) {
                return INTEGER;
            }
            LogicalTypeRoot root = build.keyType().getTypeRoot();
            Comparison comparison = root == probe.keyType().getTypeRoot() ? of(root) : null;
            if (comparison == null) {
                throw new UserError(
                        "Key types differ, or are arrays, maps or records. Choose other key columns:"
                                + " build="
                                + build.keyType()
                                + ", probe="
                                + probe.keyType());
            }
            return comparison;
        }

        private static Comparison of(LogicalTypeRoot root) {
            return switch (root) {
                case CHAR, VARCHAR -> TEXT;
                case BOOLEAN -> BOOLEAN;
                case FLOAT -> FLOAT;
                case DOUBLE -> DOUBLE;
                case DECIMAL -> DECIMAL;
                case BINARY, VARBINARY -> BYTES;
                case DATE -> DATE;
                case TIME_WITHOUT_TIME_ZONE -> TIME;
                case TIMESTAMP_WITHOUT_TIME_ZONE -> TIMESTAMP;
                case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> INSTANT;
                case TINYINT, SMALLINT, INTEGER, BIGINT -> INTEGER;
                default -> null;
            };
        }
    }

    static RecordKey of(Comparison comparison, RecordFile file) {
        return new RecordKey(
                comparison, RowData.createFieldGetter(file.keyType(), file.keyColumn()));
    }

    @Override
    public @Nullable Object getKey(RowData row) {
        Object value = field.getFieldOrNull(row);
        if (value == null) {
            return null;
        }
        return switch (comparison) {
            case INTEGER ->
                    value instanceof Number number
                            ? (Object) number.longValue()
                            : Long.valueOf(value.toString());
            case TEXT -> value.toString();
            case DECIMAL -> ((DecimalData) value).toBigDecimal();
            case DATE -> LocalDate.ofEpochDay((Integer) value);
            case TIME -> LocalTime.ofNanoOfDay((Integer) value * NANOS_PER_MILLISECOND);
            case TIMESTAMP -> ((TimestampData) value).toLocalDateTime();
            case INSTANT -> ((TimestampData) value).toInstant();
            default -> value;
        };
    }
}
