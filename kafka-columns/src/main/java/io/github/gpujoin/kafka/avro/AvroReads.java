// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kafka.BadRecordException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;

/** Makes steps that read a value into a column. */
final class AvroReads {

    private AvroReads() {}

    /**
     * Returns the step.
     *
     * @throws IllegalArgumentException if the column cannot hold values of the type
     */
    static AvroStep of(Schema type, Column column, int index) {
        if (type.getType() == Schema.Type.UNION) {
            return union(type, column, index);
        }
        AvroStep step = null;
        if (column.type().isInteger()) {
            step = integer(type, index);
        } else if (column.type() == ColumnType.FLOAT32 || column.type() == ColumnType.FLOAT64) {
            step = floating(type, column.type() == ColumnType.FLOAT64, index);
        } else if (column.type() == ColumnType.STRING) {
            step = text(type, index);
        } else {
            step = bytes(type, index);
        }
        if (step == null) {
            throw new IllegalArgumentException(
                    "Column cannot hold the values of its Avro field: column="
                            + column
                            + ", type="
                            + type);
        }
        return step;
    }

    private static AvroStep union(Schema type, Column column, int index) {
        List<AvroStep> branches =
                type.getTypes().stream()
                        .map(
                                branch ->
                                        branch.getType() == Schema.Type.NULL
                                                ? (AvroStep) (in, row) -> row.putNull(index)
                                                : of(branch, column, index))
                        .toList();
        AvroStep[] steps = branches.toArray(AvroStep[]::new);
        return (in, row) -> steps[AvroSkips.branch(in, steps.length)].apply(in, row);
    }

    private static AvroStep integer(Schema type, int index) {
        return switch (type.getType()) {
            case BOOLEAN -> (in, row) -> row.putLong(index, in.readBoolean() ? 1 : 0);
            case INT -> (in, row) -> row.putLong(index, in.readInt());
            case LONG -> (in, row) -> row.putLong(index, in.readLong());
            case BYTES ->
                    isDecimal(type)
                            ? (in, row) -> row.putLong(index, unscaled(in, in.readLength()))
                            : null;
            case FIXED -> {
                int size = type.getFixedSize();
                yield isDecimal(type) ? (in, row) -> row.putLong(index, unscaled(in, size)) : null;
            }
            default -> null;
        };
    }

    private static boolean isDecimal(Schema type) {
        return type.getLogicalType() instanceof LogicalTypes.Decimal;
    }

    /** Reads a big-endian number of any length whose value fits 64 bits. */
    private static long unscaled(AvroInput in, int length) throws BadRecordException {
        int at = in.skip(length);
        byte[] bytes = in.array();
        long value = length == 0 ? 0 : bytes[at] >> 7;
        for (int i = 0; i < length; i++) {
            if (value << 8 >> 8 != value) {
                throw new BadRecordException(
                        "Decimal has more than 64 bits: lengthBytes=" + length);
            }
            value = value << 8 | bytes[at + i] & 0xFF;
        }
        return value;
    }

    private static AvroStep floating(Schema type, boolean isDouble, int index) {
        return switch (type.getType()) {
            case FLOAT -> (in, row) -> row.putDouble(index, in.readFloat());
            case DOUBLE -> isDouble ? (in, row) -> row.putDouble(index, in.readDouble()) : null;
            default -> null;
        };
    }

    private static AvroStep text(Schema type, int index) {
        if (type.getType() == Schema.Type.ENUM) {
            byte[][] symbols =
                    type.getEnumSymbols().stream()
                            .map(symbol -> symbol.getBytes(StandardCharsets.UTF_8))
                            .toArray(byte[][]::new);
            return (in, row) -> {
                long number = in.readLong();
                if (number < 0 || number >= symbols.length) {
                    throw new BadRecordException(
                            "Enum has no such symbol: number="
                                    + number
                                    + ", symbols="
                                    + symbols.length);
                }
                byte[] symbol = symbols[(int) number];
                row.putBytes(index, symbol, 0, symbol.length);
            };
        }
        return type.getType() == Schema.Type.STRING ? variable(index) : null;
    }

    private static AvroStep variable(int index) {
        return (in, row) -> {
            int length = in.readLength();
            row.putBytes(index, in.array(), in.skip(length), length);
        };
    }

    private static AvroStep bytes(Schema type, int index) {
        return switch (type.getType()) {
            case BYTES -> variable(index);
            case FIXED -> {
                int size = type.getFixedSize();
                yield (in, row) -> row.putBytes(index, in.array(), in.skip(size), size);
            }
            default -> null;
        };
    }
}
