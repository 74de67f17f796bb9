// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.stream.IntStream;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BaseLargeVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.jspecify.annotations.Nullable;

/**
 * A vector of a record batch. Access is checked against the buffers, so damaged offsets throw. Used
 * by one thread at a time.
 */
final class ArrowColumn {

    private static final int MAX_LONG_DIGITS = 18;

    private final FieldVector vector;

    /** The values that {@link #vector} has indexes of; the vector itself without a dictionary. */
    private final FieldVector values;

    private final ColumnType type;
    private final boolean isUnsigned;
    private byte[] bytes = new byte[64];

    private ArrowColumn(FieldVector vector, FieldVector values) {
        this.vector = vector;
        this.values = values;
        this.type = type(values.getField());
        this.isUnsigned =
                values.getField().getType() instanceof ArrowType.Int integer
                        && !integer.getIsSigned();
    }

    /**
     * @param dictionary of a vector of indexes
     * @throws IllegalArgumentException if chunks have no type for the values
     */
    static ArrowColumn of(FieldVector vector, @Nullable FieldVector dictionary) {
        return new ArrowColumn(vector, dictionary == null ? vector : dictionary);
    }

    private static ColumnType type(Field field) {
        ArrowType type = field.getType();
        return switch (type.getTypeID()) {
            case Bool -> ColumnType.INT8;
            case Int -> integer(field, (ArrowType.Int) type);
            case FloatingPoint ->
                    switch (((ArrowType.FloatingPoint) type).getPrecision()) {
                        case SINGLE -> ColumnType.FLOAT32;
                        case DOUBLE -> ColumnType.FLOAT64;
                        case HALF -> throw refused(field, "a float of 16 bits");
                    };
            case Date ->
                    ((ArrowType.Date) type).getUnit() == DateUnit.DAY
                            ? ColumnType.INT32
                            : ColumnType.INT64;
            case Time ->
                    ((ArrowType.Time) type).getBitWidth() == Integer.SIZE
                            ? ColumnType.INT32
                            : ColumnType.INT64;
            case Timestamp, Duration -> ColumnType.INT64;
            case Decimal ->
                    ((ArrowType.Decimal) type).getPrecision() <= MAX_LONG_DIGITS
                            ? ColumnType.INT64
                            : ColumnType.BYTES;
            case Utf8, LargeUtf8 -> ColumnType.STRING;
            case Binary, LargeBinary, FixedSizeBinary -> ColumnType.BYTES;
            case Struct, List, LargeList, FixedSizeList, ListView, LargeListView, Map, Union ->
                    throw refused(field, "nested");
            default -> throw refused(field, "of a type that chunks do not have");
        };
    }

    private static ColumnType integer(Field field, ArrowType.Int integer) {
        int bits = integer.getIsSigned() ? integer.getBitWidth() : 2 * integer.getBitWidth();
        return switch (bits) {
            case 8 -> ColumnType.INT8;
            case 16 -> ColumnType.INT16;
            case 32 -> ColumnType.INT32;
            case 64 -> ColumnType.INT64;
            default -> throw refused(field, "an unsigned integer of 64 bits");
        };
    }

    private static IllegalArgumentException refused(Field field, String why) {
        return new IllegalArgumentException(
                "Column of an Arrow file is "
                        + why
                        + ". Leave it out, or convert it: column="
                        + field);
    }

    ColumnType type() {
        return type;
    }

    /** Returns the column of a chunk for all values, nulls included. */
    Column chunkColumn() {
        return new Column(vector.getName(), type, vector.getField().isNullable());
    }

    /** Whether the batch has nulls, or some rows of it refer to nulls of the dictionary. */
    boolean hasNulls(int firstRow, int count) {
        if (vector.getNullCount() > 0) {
            return true;
        }
        return values != vector
                && values.getNullCount() > 0
                && IntStream.range(firstRow, firstRow + count).anyMatch(this::isNull);
    }

    boolean isNull(int row) {
        return vector.isNull(row) || values != vector && values.isNull(index(row));
    }

    /** Whether values are as a column of this type in a chunk has them. */
    boolean isArrayOf(ColumnType wanted) {
        return values == vector
                && type == wanted
                && !isUnsigned
                && values instanceof BaseFixedWidthVector
                && !(values instanceof BitVector)
                && ((BaseFixedWidthVector) values).getTypeWidth() == wanted.widthBytes();
    }

    /** Copies values of which {@link #isArrayOf} holds. */
    void copy(int row, int count, byte[] target, int at) {
        int widthBytes = type.widthBytes();
        values.getDataBuffer().getBytes((long) row * widthBytes, target, at, count * widthBytes);
    }

    private int index(int row) {
        if (values == vector) {
            return row;
        }
        long index = ((BaseIntVector) vector).getValueAsLong(row);
        if (index < 0 || index >= values.getValueCount()) {
            throw new IndexOutOfBoundsException("Dictionary has no such value: index=" + index);
        }
        return (int) index;
    }

    /** Returns a value that is no null as an integer, or as the bits of a float. */
    long number(int row) {
        int at = index(row);
        if (values instanceof BitVector bits) {
            return bits.get(at);
        }
        if (values instanceof BaseIntVector integers && isUnsigned) {
            return integers.getValueAsLong(at);
        }
        int widthBytes = ((BaseFixedWidthVector) values).getTypeWidth();
        long offset = (long) at * widthBytes;
        return switch (widthBytes) {
            case 1 -> values.getDataBuffer().getByte(offset);
            case 2 -> values.getDataBuffer().getShort(offset);
            case 4 -> values.getDataBuffer().getInt(offset);
            // A decimal is little-endian: the lowest half has all of its digits.
            default -> values.getDataBuffer().getLong(offset);
        };
    }

    /** Loads a value that is no null to {@link #bytes}; returns its length. */
    int load(int row) {
        int at = index(row);
        long start;
        long length;
        if (values instanceof BaseVariableWidthVector) {
            start = values.getOffsetBuffer().getInt((long) at * Integer.BYTES);
            length = values.getOffsetBuffer().getInt((at + 1L) * Integer.BYTES) - start;
        } else if (values instanceof BaseLargeVariableWidthVector) {
            start = values.getOffsetBuffer().getLong((long) at * Long.BYTES);
            length = values.getOffsetBuffer().getLong((at + 1L) * Long.BYTES) - start;
        } else {
            length = ((BaseFixedWidthVector) values).getTypeWidth();
            start = at * length;
        }
        if (length < 0 || length > values.getDataBuffer().capacity()) {
            throw new IndexOutOfBoundsException("Value is outside its buffer: length=" + length);
        }
        if (bytes.length < length) {
            bytes = new byte[Math.max((int) length, 2 * bytes.length)];
        }
        values.getDataBuffer().getBytes(start, bytes, 0, (int) length);
        return (int) length;
    }

    byte[] bytes() {
        return bytes;
    }
}
