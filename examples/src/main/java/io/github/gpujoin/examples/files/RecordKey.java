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

/**
 * The key of a file's rows, null where the field is.
 *
 * @param comparison as what the keys of both files are compared
 * @param field reads the field
 */
record RecordKey(Comparison comparison, RowData.FieldGetter field)
        implements KeySelector<RowData, Object>, Serializable {

    private static final long NANOS_PER_MILLISECOND = 1_000_000;

    /** As what keys are compared. */
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
         * As what the keys of two files are compared: as integers where all of both are, else by
         * their one type.
         *
         * @throws UserError where they are of two types, or of one that is no key
         */
        static Comparison of(RecordFile build, RecordFile probe) {
            if (build.hasIntegerKeys() && probe.hasIntegerKeys()) {
                return INTEGER;
            }
            LogicalTypeRoot root = build.keyType().getTypeRoot();
            Comparison comparison = root == probe.keyType().getTypeRoot() ? of(root) : null;
            if (comparison == null) {
                throw new UserError(
                        "the keys of both files must be of one type, and no arrays, maps or"
                                + " records: build="
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
    public Object getKey(RowData row) {
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
