// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.Arrays;
import java.util.Objects;
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
    private final boolean[] isFixed;

    /** Of variable-width columns: a value's bytes, or its bits if it is a number. */
    private final byte[][] bytes;

    private final int[] offsets;
    private final int[] lengths;
    private final long[] bits;

    /** Number of the row in which each column was written last. */
    private final int[] writtenIn;

    private int row;

    /**
     * Creates a writer. Sources have their own; this one is for tests of formats.
     *
     * @param builder that collects the rows, and that its owner seals when it is full
     */
    public RowWriter(ChunkBuilder builder) {
        ChunkSchema schema = builder.schema();
        this.builder = builder;
        this.columns = schema.columns().toArray(Column[]::new);
        this.isFixed = new boolean[columns.length];
        for (int i = 0; i < columns.length; i++) {
            isFixed[i] = columns[i].isFixed();
        }
        this.bytes = new byte[columns.length][];
        Arrays.fill(bytes, NONE);
        this.offsets = new int[columns.length];
        this.lengths = new int[columns.length];
        this.bits = new long[columns.length];
        this.writtenIn = new int[columns.length];
    }

    /** Starts a row; one that was begun and not ended is forgotten. */
    public void begin() {
        row++;
    }

    /**
     * Writes an integer.
     *
     * @param column index of an integer column of any width
     * @param value signed
     * @throws BadRecordException if the column is too narrow for the value
     */
    public void putLong(int column, long value) throws BadRecordException {
        ColumnType type = columns[column].type();
        int unused = Long.SIZE - 8 * type.widthBytes();
        if (value << unused >> unused != value) {
            throw new BadRecordException(
                    "Value is out of range: column=" + columns[column] + ", value=" + value);
        }
        putBits(column, value);
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
                columns[column].type() == ColumnType.FLOAT64
                        ? Double.doubleToRawLongBits(value)
                        : Float.floatToRawIntBits((float) value));
    }

    private void putBits(int column, long value) {
        writtenIn[column] = row;
        if (isFixed[column]) {
            builder.putInteger(column, value);
        } else {
            bits[column] = value;
            lengths[column] = columns[column].type().widthBytes();
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
        writtenIn[column] = row;
        bytes[column] = value;
        offsets[column] = offset;
        lengths[column] = length;
    }

    /**
     * Writes a null.
     *
     * @param column index of a nullable column
     * @throws BadRecordException if the column is not nullable
     */
    public void putNull(int column) throws BadRecordException {
        if (!columns[column].nullable()) {
            throw new BadRecordException(
                    "Null in a column that is not nullable: column=" + columns[column].name());
        }
        writtenIn[column] = row;
        lengths[column] = NULL;
    }

    /**
     * Appends the row to the chunk.
     *
     * @throws BadRecordException if a column that is not nullable was not written
     */
    public void end() throws BadRecordException {
        for (int i = 0; i < columns.length; i++) {
            if (writtenIn[i] != row) {
                requireNullable(i);
                builder.addNull();
            } else if (!isFixed[i]) {
                append(i);
            }
        }
        builder.endRow();
    }

    private void requireNullable(int column) throws BadRecordException {
        if (!columns[column].nullable()) {
            throw new BadRecordException(
                    "No value for a column that is not nullable: column=" + columns[column].name());
        }
    }

    private void append(int column) {
        int length = lengths[column];
        if (length == NULL) {
            builder.addNull();
        } else if (columns[column].type().isFixedWidth()) {
            builder.addInteger(length, bits[column]);
        } else {
            builder.addBytes(bytes[column], offsets[column], length);
        }
    }
}
