// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static io.github.gpujoin.core.layout.ChunkDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.DIMENSION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.NULL_LENGTH;
import static io.github.gpujoin.core.layout.ChunkDescriptor.PARTITION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.ROW_COUNT_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.SEQUENCE_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VARIABLE_WIDTH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkHeader.require;

import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * A sealed batch of rows in columns, in one byte array with the layout of {@link ChunkDescriptor}.
 * Immutable and thread-safe.
 *
 * <p>{@link #wrap} checks every header field against the length of the array before it reads
 * anything else. All column extents are then inside the array, so that hot loops may read {@link
 * #array()} at {@link #columnOffset} without further checks. The getters check the row.
 */
public final class Chunk {

    private final ChunkSchema schema;
    private final byte[] bytes;
    private final int[] offsets;
    private final int rowCount;

    private Chunk(ChunkSchema schema, byte[] bytes, int rowCount, int[] offsets) {
        this.schema = schema;
        this.bytes = bytes;
        this.rowCount = rowCount;
        this.offsets = offsets;
    }

    /**
     * Returns the chunk that fills an array.
     *
     * @param bytes owned by the chunk from now on
     * @throws ChunkFormatException if a header field, an extent or the checksum is wrong
     */
    public static Chunk wrap(ChunkSchema schema, byte[] bytes) {
        Chunk chunk = unverified(schema, bytes);
        long expected = Memory.getLong(bytes, Memory.BYTES + CHECKSUM_OFFSET);
        long actual = ChunkChecksum.of(bytes, Memory.BYTES, bytes.length);
        require(expected == actual, "Chunk checksum does not match its bytes", "checksum", actual);
        return chunk;
    }

    /**
     * Does the same as {@link #wrap} but does not verify the checksum; for bytes that this process
     * has just written or verified. {@link #bytes()} computes the checksum if its field is 0.
     */
    public static Chunk unverified(ChunkSchema schema, byte[] bytes) {
        ChunkHeader.check(schema, bytes);
        require(
                !ChunkHeader.isEncoded(bytes),
                "Chunk has encoded columns, which a ChunkDecoder reads",
                "flags",
                ChunkHeader.flags(bytes));
        int length = bytes.length;
        int rows = intAt(bytes, ROW_COUNT_OFFSET);
        require(rows >= 0, "Chunk has a negative row count", "rowCount", rows);
        int[] offsets = schema.offsets(rows);
        int fixedEnd = offsets[schema.size()];
        int variableWidth = intAt(bytes, VARIABLE_WIDTH_OFFSET);
        if (schema.hasVariableWidth()) {
            require(
                    variableWidth == fixedEnd,
                    "Variable-width section of the chunk does not follow its columns",
                    "variableWidthOffset",
                    variableWidth);
            require(
                    variableWidth + 4L * rows <= length,
                    "Index of variable-width values ends outside the chunk",
                    "rowCount",
                    rows);
            checkVariableWidth(schema, bytes, variableWidth, rows);
        } else {
            require(
                    variableWidth == 0,
                    "Chunk has a variable-width section, but its schema has no such column",
                    "variableWidthOffset",
                    variableWidth);
            require(fixedEnd == length, "Columns do not fill the chunk", "rowCount", rows);
        }
        return new Chunk(schema, bytes, rows, offsets);
    }

    /** Checks every variable-width value once, so that cursors need no checks. */
    private static void checkVariableWidth(
            ChunkSchema schema, byte[] bytes, int variableWidth, int rows) {
        int[] widths = schema.variableWidthValueBytes();
        int data = variableWidth + 4 * rows;
        int room = bytes.length - data;
        int end = 0;
        for (int row = 0; row < rows; row++) {
            int at = data + end;
            end = intAt(bytes, variableWidth + 4 * row);
            if (end < 0 || end > room) {
                throw rowOutside(row, end, room);
            }
            int limit = data + end;
            for (int width : widths) {
                int length = limit - at < 4 ? Integer.MAX_VALUE : intAt(bytes, at);
                boolean isNull = length == NULL_LENGTH;
                boolean fits = width == 0 ? length >= 0 : length == width;
                int valueBytes = isNull ? 0 : length;
                if (!(isNull || fits) || valueBytes > limit - at - 4) {
                    throw valueOutside(row, limit - at, length);
                }
                at += 4 + valueBytes;
            }
            if (at != limit) {
                throw rowOutside(row, end, room);
            }
        }
        require(
                ChunkDescriptor.alignChunk(data + end) == bytes.length,
                "Variable-width values do not fill the chunk",
                "end",
                end);
    }

    private static ChunkFormatException rowOutside(int row, int end, int room) {
        return new ChunkFormatException(
                "Variable-width values of a row do not match the ends in the index: row="
                        + row
                        + ", end="
                        + end
                        + ", room="
                        + room);
    }

    private static ChunkFormatException valueOutside(int row, int room, int length) {
        return new ChunkFormatException(
                "Variable-width value has a wrong length or ends outside its row: row="
                        + row
                        + ", room="
                        + room
                        + ", valueLength="
                        + length);
    }

    public ChunkSchema schema() {
        return schema;
    }

    public int rowCount() {
        return rowCount;
    }

    public int lengthBytes() {
        return bytes.length;
    }

    /** Returns the number of the chunk's dimension, or {@link ChunkDescriptor#FACTS}. */
    public int dimension() {
        return Memory.getShort(bytes, Memory.BYTES + DIMENSION_OFFSET);
    }

    /**
     * Returns the radix partition of all rows, or {@link ChunkDescriptor#UNPARTITIONED}. If the
     * chunk {@linkplain #hasManyPartitions() has many partitions}, this is one partition of its
     * receiver.
     */
    public int partition() {
        return intAt(bytes, PARTITION_OFFSET);
    }

    /**
     * Whether the rows are of several radix partitions of one receiver. The key of a row determines
     * its partition.
     */
    public boolean hasManyPartitions() {
        return (ChunkHeader.flags(bytes) & ChunkDescriptor.MANY_PARTITIONS) != 0;
    }

    public long epoch() {
        return Memory.getLong(bytes, Memory.BYTES + EPOCH_OFFSET);
    }

    public long sequence() {
        return Memory.getLong(bytes, Memory.BYTES + SEQUENCE_OFFSET);
    }

    /**
     * Returns the chunk as it is sent or stored, checksum included. The caller must not modify it.
     *
     * <p>The first call computes the checksum, so that a chunk that never leaves its thread needs
     * none.
     */
    public byte[] bytes() {
        long at = Memory.BYTES + CHECKSUM_OFFSET;
        // Concurrent callers write the same value, and the store of an aligned long is atomic.
        if (Memory.getLong(bytes, at) == ChunkChecksum.NONE) {
            Memory.putLong(bytes, at, ChunkChecksum.of(bytes, Memory.BYTES, bytes.length));
        }
        return bytes;
    }

    /** Returns the array of the chunk for loops over columns. Its checksum may be missing. */
    public byte[] array() {
        return bytes;
    }

    /**
     * Returns the offset of a fixed-width column in {@link #array()}, or -1 for a variable-width
     * column.
     */
    public int columnOffset(int column) {
        return offsets[column];
    }

    /** Returns the value of an INT32 column. */
    public int getInt(int column, int row) {
        return Memory.getInt(bytes, fixedAt(column, row, ColumnType.INT32));
    }

    /** Returns the value of an INT32 or INT64 column. */
    public long getLong(int column, int row) {
        if (schema.column(column).type() == ColumnType.INT32) {
            return getInt(column, row);
        }
        return Memory.getLong(bytes, fixedAt(column, row, ColumnType.INT64));
    }

    /** Returns the value of a FLOAT32 or FLOAT64 column. */
    public double getDouble(int column, int row) {
        if (schema.column(column).type() == ColumnType.FLOAT32) {
            int bits = Memory.getInt(bytes, fixedAt(column, row, ColumnType.FLOAT32));
            return Float.intBitsToFloat(bits);
        }
        long bits = Memory.getLong(bytes, fixedAt(column, row, ColumnType.FLOAT64));
        return Double.longBitsToDouble(bits);
    }

    /**
     * Returns a copy with other values in a fixed-width INT64 column.
     *
     * @param values maps a row number to its value
     */
    public Chunk withLongs(int column, IntToLongFunction values) {
        byte[] copy = bytes.clone();
        for (int row = 0; row < rowCount; row++) {
            Memory.putLong(copy, fixedAt(column, row, ColumnType.INT64), values.applyAsLong(row));
        }
        Memory.putLong(copy, Memory.BYTES + CHECKSUM_OFFSET, ChunkChecksum.NONE);
        return new Chunk(schema, copy, rowCount, offsets);
    }

    /**
     * Returns a copy with another radix partition.
     *
     * @param partition from 0, or {@link ChunkDescriptor#UNPARTITIONED}
     */
    public Chunk withPartition(int partition) {
        byte[] copy = bytes.clone();
        Memory.putInt(copy, Memory.BYTES + PARTITION_OFFSET, partition);
        Memory.putLong(copy, Memory.BYTES + CHECKSUM_OFFSET, ChunkChecksum.NONE);
        return new Chunk(schema, copy, rowCount, offsets);
    }

    /** Returns the offset of the row's variable-width values in {@link #array()}. */
    public int variableWidthStart(int row) {
        checkVariableWidthRow(row);
        int variableWidth = offsets[schema.size()];
        int data = variableWidth + 4 * rowCount;
        return row == 0 ? data : data + intAt(bytes, variableWidth + 4 * (row - 1));
    }

    /** Returns the offset after the row's variable-width values in {@link #array()}. */
    public int variableWidthEnd(int row) {
        checkVariableWidthRow(row);
        int variableWidth = offsets[schema.size()];
        return variableWidth + 4 * rowCount + intAt(bytes, variableWidth + 4 * row);
    }

    private long fixedAt(int column, int row, ColumnType expected) {
        checkRow(row);
        Column declared = schema.column(column);
        if (declared.type() != expected || offsets[column] < 0) {
            throw new IllegalArgumentException(
                    "Column is read as another type: column=" + declared + ", as=" + expected);
        }
        return Memory.BYTES + offsets[column] + (long) expected.widthBytes() * row;
    }

    private void checkRow(int row) {
        if (row < 0 || row >= rowCount) {
            throw new IndexOutOfBoundsException("row=" + row + ", rowCount=" + rowCount);
        }
    }

    private void checkVariableWidthRow(int row) {
        checkRow(row);
        if (!schema.hasVariableWidth()) {
            throw new IllegalArgumentException(
                    "Schema has no variable-width column: schema=" + schema);
        }
    }

    private static int intAt(byte[] bytes, int offset) {
        return Memory.getInt(bytes, Memory.BYTES + offset);
    }

    /** Whether the schemas and all bytes are equal, header included. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Chunk that
                && schema.equals(that.schema)
                && Arrays.equals(bytes(), that.bytes());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes());
    }

    @Override
    public String toString() {
        return "Chunk[rows="
                + rowCount
                + ", lengthBytes="
                + bytes.length
                + ", dimension="
                + dimension()
                + ", partition="
                + partition()
                + ", sequence="
                + sequence()
                + "]";
    }

    /** Decodes a STRING value whose bytes start at {@code at}. */
    static String text(byte[] bytes, int at, int length) {
        return new String(bytes, at, length, StandardCharsets.UTF_8);
    }
}
