// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes the columns of a chunk's next row in any order; the last value of a column counts.
 * Fixed-width values go straight into the chunk. Of variable-width values it keeps references until
 * the row ends, because a chunk wants them in the order of the schema. Not thread-safe.
 */
@PublicEvolving
public final class RowWriter {

    private static final int NULL = -1;
    private static final byte[] NONE = new byte[0];

    private final ChunkBuilder builder;
    private final Column[] columns;

    /** Indexes of the variable-width columns. */
    private final int[] variable;

    /** Bytes of a value, 0 if they vary. */
    private final int[] widths;

    /** Offset of each fixed-width column in the builder's array, -1 of the others. */
    private final int[] columnOffsets;

    private final boolean[] isDouble;

    /** Of variable-width columns: a value's bytes, or its bits if it is a number. */
    private final byte[][] bytes;

    private final int[] offsets;
    private final int[] lengths;
    private final long[] bits;

    /** A bit for each column: whether this row has a value, and whether each row must have one. */
    private final long[] written;

    private final long[] required;

    /** Of the row: the builder's array, and the row's number in it. */
    private byte[] target = NONE;

    private int row;

    /** Variable-width columns of the row that are in the chunk already. */
    private int appended;

    private boolean isInOrder;

    /**
     * Creates a writer. Sources have their own; this one is for tests of formats.
     *
     * @param builder that collects the rows, and that its owner seals when it is full
     */
    public RowWriter(ChunkBuilder builder) {
        ChunkSchema schema = builder.schema();
        int count = schema.size();
        this.builder = builder;
        this.columns = schema.columns().toArray(Column[]::new);
        this.variable = IntStream.range(0, count).filter(i -> !columns[i].isFixed()).toArray();
        this.widths = new int[count];
        this.columnOffsets = new int[count];
        this.isDouble = new boolean[count];
        this.bytes = new byte[count][];
        Arrays.fill(bytes, NONE);
        this.offsets = new int[count];
        this.lengths = new int[count];
        this.bits = new long[count];
        this.written = new long[(count >> 6) + 1];
        this.required = new long[written.length];
        for (int i = 0; i < count; i++) {
            widths[i] = columns[i].type().widthBytes();
            columnOffsets[i] = builder.columnOffset(i);
            isDouble[i] = columns[i].type() == ColumnType.FLOAT64;
            if (!columns[i].nullable()) {
                required[i >> 6] |= 1L << i;
            }
        }
    }

    /** Starts a row; one that was begun and not ended is forgotten. */
    public void begin() {
        target = builder.array();
        row = builder.rowCount();
        if (row == builder.capacityRows()) {
            throw new IllegalStateException("Chunk is full. Call seal() first: rows=" + row);
        }
        for (int word = 0; word < written.length; word++) {
            written[word] = 0;
        }
        if (appended > 0) {
            builder.discardRow();
            appended = 0;
        }
        isInOrder = false;
    }

    /**
     * Writes an integer.
     *
     * @param column index of an integer column of any width
     * @param value signed
     * @throws BadRecordException if the column is too narrow for the value
     */
    public void putLong(int column, long value) throws BadRecordException {
        int unused = Long.SIZE - 8 * widths[column];
        if (value << unused >> unused != value) {
            throw outOfRange(column, value);
        }
        putBits(column, value);
    }

    BadRecordException outOfRange(int column, long value) {
        return new BadRecordException(
                "Value is out of range: column=" + columns[column] + ", value=" + value);
    }

    /**
     * Writes a floating-point number.
     *
     * @param column index of a FLOAT64 column, or of a FLOAT32 column, which rounds the value
     * @param value any
     */
    public void putDouble(int column, double value) {
        putBits(
                column,
                isDouble[column]
                        ? Double.doubleToRawLongBits(value)
                        : Float.floatToRawIntBits((float) value));
    }

    private void putBits(int column, long value) {
        written[column >> 6] |= 1L << column;
        int width = widths[column];
        int offset = columnOffsets[column];
        if (offset >= 0) {
            Memory.putInteger(target, Memory.BYTES + offset + (long) width * row, width, value);
        } else if (isInOrder) {
            builder.addInteger(width, value);
            appended++;
        } else {
            bits[column] = value;
            lengths[column] = width;
        }
    }

    /**
     * Writes text or bytes. The array must not change until the row ends.
     *
     * @param column index of a STRING column, whose values are UTF-8, or of a BYTES column
     * @param value array with the bytes
     * @param offset of the first byte
     * @param length in bytes
     */
    public void putBytes(int column, byte[] value, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, value.length);
        if (widths[column] > 0) {
            throw new IllegalArgumentException(
                    "Bytes in a column of numbers: column=" + columns[column]);
        }
        written[column >> 6] |= 1L << column;
        setBytes(column, value, offset, length);
    }

    /** Writes bytes of a column of bytes, without checks. */
    void setBytes(int column, byte[] value, int offset, int length) {
        if (isInOrder) {
            builder.addBytes(value, offset, length);
            appended++;
            return;
        }
        bytes[column] = value;
        offsets[column] = offset;
        lengths[column] = length;
    }

    /** The array of the chunk's fixed-width columns. */
    byte[] target() {
        return target;
    }

    /** The number of the row in the chunk. */
    long index() {
        return row;
    }

    /** Returns where a fixed-width column starts in the array, for {@link Memory}. */
    long start(int column) {
        return Memory.BYTES + columnOffsets[column];
    }

    /** Marks the first columns as written. */
    void setWritten(int count) {
        for (int word = 0; word < count >> 6; word++) {
            written[word] = -1;
        }
        written[count >> 6] |= (1L << count) - 1;
    }

    /** Checks that the first columns are those of a program, which writes without checks. */
    void requireColumns(ChunkSchema expected) {
        if (!builder.schema().columns().subList(0, expected.size()).equals(expected.columns())) {
            throw new IllegalArgumentException(
                    "Rows have other columns: expected=" + expected + ", rows=" + builder.schema());
        }
    }

    /**
     * Writes a null.
     *
     * @param column index of a nullable column
     * @throws UnexpectedNullException if the column is not nullable
     */
    public void putNull(int column) throws UnexpectedNullException {
        if (!columns[column].nullable()) {
            throw new UnexpectedNullException(columns[column].name());
        }
        written[column >> 6] |= 1L << column;
        if (isInOrder) {
            builder.addNull();
            appended++;
            return;
        }
        lengths[column] = NULL;
    }

    /**
     * Begins or ends a time in which variable-width columns are written in the order of the schema,
     * each once. They go straight into the chunk then.
     */
    void setInOrder(boolean isInOrder) {
        this.isInOrder = isInOrder;
    }

    /**
     * Appends the row to the chunk.
     *
     * @throws BadRecordException if a column that is not nullable was not written
     */
    public void end() throws BadRecordException {
        for (int word = 0; word < required.length; word++) {
            long missing = required[word] & ~written[word];
            if (missing != 0) {
                int column = (word << 6) + Long.numberOfTrailingZeros(missing);
                throw new BadRecordException(
                        "No value for a column that is not nullable: column="
                                + columns[column].name());
            }
        }
        for (int i = appended; i < variable.length; i++) {
            int column = variable[i];
            boolean isWritten = (written[column >> 6] & 1L << column) != 0;
            int length = isWritten ? lengths[column] : NULL;
            if (length == NULL) {
                builder.addNull();
            } else if (widths[column] > 0) {
                builder.addInteger(length, bits[column]);
            } else {
                builder.addBytes(bytes[column], offsets[column], length);
            }
        }
        builder.endRow();
        appended = 0;
    }
}
