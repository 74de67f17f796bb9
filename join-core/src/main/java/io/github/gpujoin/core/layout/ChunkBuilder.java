// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collects rows column by column and seals them into {@link Chunk}s. Reused from chunk to chunk.
 * Not thread-safe.
 *
 * <p>To write a row, put every fixed-width column at {@link #rowCount()}, add every variable-width
 * column in schema order, and call {@link #endRow()}. {@link #discardRow()} discards a row that was
 * begun and not ended.
 */
public final class ChunkBuilder {

    private final ChunkSchema schema;
    private final ChunkSlots slots;
    private final int capacityRows;
    private final int targetBytes;
    private final int[] widths;

    /** Offset of each fixed-width column in {@link #bytes}: the layout of a full chunk. */
    private final int[] offsets;

    /** A chunk without a header. A full builder hands it to the sealed chunk, without a copy. */
    private byte[] bytes;

    private final int[] variableWidthEnds;
    private byte[] variableWidth;
    private int variableWidthBytes;
    private int rowCount;

    /**
     * @param targetBytes payload size at which the chunk is full, usually 64 KiB to 1 MiB
     */
    public ChunkBuilder(ChunkSchema schema, int targetBytes) {
        this(schema, targetBytes, ChunkSlots.NONE);
    }

    /**
     * @param targetBytes payload size at which the chunk is full, usually 64 KiB to 1 MiB
     * @param slots in which chunks are sealed. The rows are collected in a reused array, which
     *     stays in the processor's cache, and each is written to its slot once
     */
    public ChunkBuilder(ChunkSchema schema, int targetBytes, ChunkSlots slots) {
        if (targetBytes <= 0) {
            throw new IllegalArgumentException(
                    "Chunk size is not positive: targetBytes=" + targetBytes);
        }
        this.schema = schema;
        this.slots = slots;
        this.targetBytes = targetBytes;
        int rowBytes = schema.fixedRowBytes() + 8 * schema.variableWidthColumnCount();
        this.capacityRows = Math.max(1, targetBytes / Math.max(1, rowBytes));
        this.widths = new int[schema.size()];
        for (int i = 0; i < widths.length; i++) {
            Column column = schema.column(i);
            if (column.isFixed()) {
                widths[i] = column.type().widthBytes();
            }
        }
        this.offsets = schema.offsets(capacityRows);
        this.bytes = new byte[offsets[schema.size()]];
        this.variableWidthEnds = schema.hasVariableWidth() ? new int[capacityRows] : new int[0];
        this.variableWidth = new byte[schema.hasVariableWidth() ? Math.min(targetBytes, 4096) : 0];
    }

    public ChunkSchema schema() {
        return schema;
    }

    public int rowCount() {
        return rowCount;
    }

    public int capacityRows() {
        return capacityRows;
    }

    public boolean isEmpty() {
        return rowCount == 0;
    }

    /** Whether the next row might not fit. Seal a full builder before the next row. */
    public boolean isFull() {
        return rowCount == capacityRows
                || (long) rowCount * schema.fixedRowBytes() + variableWidthBytes >= targetBytes;
    }

    /** Sets a fixed-width INT32 column, or the raw bits of a FLOAT32 column. */
    public void putInt(int column, int value) {
        Memory.putInt(bytes, offsetInColumn(column, Integer.BYTES), value);
    }

    /** Sets a fixed-width INT64 column, or the raw bits of a FLOAT64 column. */
    public void putLong(int column, long value) {
        Memory.putLong(bytes, offsetInColumn(column, Long.BYTES), value);
    }

    /**
     * Sets a fixed-width integer column of any width, or the raw bits of a float column. Stores the
     * lowest bytes of the value.
     */
    public void putInteger(int column, long value) {
        int widthBytes = widths[column];
        Memory.putInteger(bytes, offsetInColumn(column, widthBytes), widthBytes, value);
    }

    public void putFloat(int column, float value) {
        putInt(column, Float.floatToRawIntBits(value));
    }

    public void putDouble(int column, double value) {
        putLong(column, Double.doubleToRawLongBits(value));
    }

    public void addNull() {
        reserve(4);
        appendInt(ChunkDescriptor.NULL_LENGTH);
    }

    public void addBytes(byte[] value, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, value.length);
        addBytesAt(value, (long) Memory.BYTES + offset, length);
    }

    /**
     * Adds a BYTES value from memory, without a check of its bounds.
     *
     * @param base array, or null for memory off the heap
     * @param start as in {@link Memory}
     */
    public void addBytesAt(byte @Nullable [] base, long start, int length) {
        reserve(4L + length);
        appendInt(length);
        Memory.copy(base, start, variableWidth, Memory.BYTES + variableWidthBytes, length);
        variableWidthBytes += length;
    }

    /**
     * Adds a STRING value.
     *
     * @throws IllegalArgumentException if a surrogate has no other half; UTF-8 cannot encode it
     */
    public void addString(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        // getBytes replaces what it cannot encode with a question mark. Most text contains none.
        if (hasQuestionMark(utf8)) {
            requirePairs(value);
        }
        addBytes(utf8, 0, utf8.length);
    }

    private static boolean hasQuestionMark(byte[] bytes) {
        int at = 0;
        for (; at + 8 <= bytes.length; at += 8) {
            // A question mark becomes a zero byte, which borrows from its highest bit.
            long zeroed = Memory.getLong(bytes, Memory.BYTES + at) ^ 0x3F3F3F3F3F3F3F3FL;
            if ((zeroed - 0x0101010101010101L & ~zeroed & 0x8080808080808080L) != 0) {
                return true;
            }
        }
        while (at < bytes.length && bytes[at] != '?') {
            at++;
        }
        return at < bytes.length;
    }

    private static void requirePairs(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                if (!Character.isSupplementaryCodePoint(text.codePointAt(i))) {
                    throw new IllegalArgumentException(
                            "Text contains a surrogate without its other half: index="
                                    + i
                                    + ", char=0x"
                                    + Integer.toHexString(text.charAt(i)));
                }
                i++;
            }
        }
    }

    /** Adds a nullable INT32 value, or the raw bits of a nullable FLOAT32 value. */
    public void addInt(int value) {
        addInteger(Integer.BYTES, value);
    }

    /** Adds a nullable INT64 value, or the raw bits of a nullable FLOAT64 value. */
    public void addLong(long value) {
        addInteger(Long.BYTES, value);
    }

    /**
     * Adds the lowest bytes of a nullable integer, or of the raw bits of a nullable float.
     *
     * @param widthBytes of the column's type
     */
    public void addInteger(int widthBytes, long value) {
        reserve(Integer.BYTES + widthBytes);
        appendInt(widthBytes);
        long at = Memory.BYTES + variableWidthBytes;
        Memory.putInteger(variableWidth, at, widthBytes, value);
        variableWidthBytes += widthBytes;
    }

    /**
     * Adds all variable-width columns of a row of another chunk at once.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     * @param start offset of the first byte
     * @param end offset after the last one
     */
    public void addVariableWidthRow(byte @Nullable [] base, long start, long end) {
        int lengthBytes = (int) (end - start);
        reserve(lengthBytes);
        long target = Memory.BYTES + variableWidthBytes;
        Memory.copy(base, start, variableWidth, target, lengthBytes);
        variableWidthBytes += lengthBytes;
    }

    /**
     * Adds rows of a chunk of this schema, column by column, as far as the capacity permits. The
     * bytes may exceed those at which the builder {@linkplain #isFull is full}.
     *
     * @return the number of rows that were added
     */
    public int addRows(Chunk source, int firstRow, int count) {
        requireSchema(source);
        Objects.checkFromIndexSize(firstRow, count, source.rowCount());
        int rows = Math.min(count, capacityRows - rowCount);
        for (int i = 0; i < widths.length; i++) {
            if (offsets[i] >= 0) {
                long from = source.columnStart(i) + (long) widths[i] * firstRow;
                long to = Memory.BYTES + offsets[i] + (long) widths[i] * rowCount;
                Memory.copy(source.array(), from, bytes, to, (long) widths[i] * rows);
            }
        }
        if (schema.hasVariableWidth() && rows > 0) {
            long start = source.variableWidthStart(firstRow);
            int shift = variableWidthBytes;
            addVariableWidthRow(
                    source.array(), start, source.variableWidthEnd(firstRow + rows - 1));
            for (int i = 0; i < rows; i++) {
                long end = source.variableWidthEnd(firstRow + i);
                variableWidthEnds[rowCount + i] = shift + (int) (end - start);
            }
        }
        rowCount += rows;
        return rows;
    }

    /** Adds a row of a chunk of this schema. */
    public void addRow(Chunk source, int row) {
        putRow(source, row);
        endRow();
    }

    /**
     * Puts and adds all columns of a row of a chunk of this schema. The caller calls {@link
     * #endRow}.
     */
    public void putRow(Chunk source, int row) {
        requireSchema(source);
        Objects.checkIndex(row, source.rowCount());
        checkRoom();
        for (int i = 0; i < widths.length; i++) {
            if (offsets[i] >= 0) {
                long from = source.columnStart(i) + (long) widths[i] * row;
                long to = Memory.BYTES + offsets[i] + (long) widths[i] * rowCount;
                Memory.copy(source.array(), from, bytes, to, widths[i]);
            }
        }
        if (schema.hasVariableWidth()) {
            addVariableWidthRow(
                    source.array(), source.variableWidthStart(row), source.variableWidthEnd(row));
        }
    }

    private void requireSchema(Chunk source) {
        if (schema != source.schema() && !schema.equals(source.schema())) {
            throw new IllegalArgumentException(
                    "Row to copy has another schema: expected="
                            + schema
                            + ", schema="
                            + source.schema());
        }
    }

    public void endRow() {
        checkRoom();
        if (schema.hasVariableWidth()) {
            variableWidthEnds[rowCount] = variableWidthBytes;
        }
        rowCount++;
    }

    /** Discards what was added since the last {@link #endRow()}. */
    public void discardRow() {
        variableWidthBytes = endedVariableWidthBytes();
    }

    /**
     * Returns the array with the fixed-width columns, for loops that fill many rows and then {@link
     * #advance}. {@link #seal} may replace it.
     */
    public byte[] array() {
        return bytes;
    }

    /**
     * Returns the offset of a fixed-width column in {@link #array()}, or -1 for a variable-width
     * column. It never changes.
     */
    public int columnOffset(int column) {
        return offsets[column];
    }

    /** Adds rows whose fixed-width columns were written through {@link #array}. */
    public void advance(int rows) {
        if (schema.hasVariableWidth() || rows < 0 || rows > capacityRows - rowCount) {
            throw new IllegalArgumentException(
                    "Rows do not fit the chunk, or its schema has variable-width columns: rows="
                            + rows
                            + ", room="
                            + (capacityRows - rowCount));
        }
        rowCount += rows;
    }

    /**
     * Returns a chunk of the rows so far and empties the builder. The caller is the user of the
     * chunk's slot, if it has one.
     *
     * @throws IllegalStateException if a row was begun and neither ended nor abandoned
     * @throws ChunkFormatException if variable-width values do not match the schema
     */
    public Chunk seal(int dimension, int partition, long epoch, long sequence) {
        return seal(dimension, partition, epoch, sequence, false, false);
    }

    /**
     * Does the same as {@link #seal}, but a full chunk without variable-width columns stays in the
     * memory of this builder, which the next row overwrites. The memory then stays in the
     * processor's cache, and no chunk is allocated.
     *
     * @return a chunk that may be {@linkplain Chunk#isTransient transient}
     */
    public Chunk sealTransient(int dimension, int partition, long epoch, long sequence) {
        return seal(dimension, partition, epoch, sequence, false, true);
    }

    /**
     * Does the same as {@link #seal} for rows of many radix partitions.
     *
     * @param partition one of the partitions of the rows' receiver
     */
    public Chunk sealMany(int dimension, int partition, long epoch, long sequence) {
        return seal(dimension, partition, epoch, sequence, true, false);
    }

    private Chunk seal(
            int dimension,
            int partition,
            long epoch,
            long sequence,
            boolean many,
            boolean isTransient) {
        checkSealable(dimension);
        int fixedEnd = schema.offsets(rowCount)[schema.size()];
        int flags = many ? ChunkDescriptor.MANY_PARTITIONS : 0;
        int variableWidthOffset = schema.hasVariableWidth() ? fixedEnd : 0;
        ChunkHeader header =
                new ChunkHeader(
                        sealedBytes(fixedEnd),
                        rowCount,
                        dimension,
                        flags,
                        partition,
                        variableWidthOffset,
                        epoch,
                        sequence);
        ChunkSlot slot = slots.tryAcquire(header.lengthBytes());
        Chunk sealed = slot == null ? sealOnHeap(header, isTransient) : sealInSlot(header, slot);
        rowCount = 0;
        variableWidthBytes = 0;
        return sealed;
    }

    private Chunk sealOnHeap(ChunkHeader header, boolean isTransient) {
        byte[] sealed = bytes;
        boolean isOwn = rowCount == capacityRows && !schema.hasVariableWidth();
        if (!isOwn) {
            sealed = new byte[header.lengthBytes()];
            copyRows(sealed, Memory.BYTES, header.lengthBytes());
        } else if (!isTransient) {
            bytes = new byte[bytes.length];
        }
        header.writeTo(sealed, Memory.BYTES, schema);
        return Chunk.ofArray(schema, sealed, isOwn && isTransient);
    }

    private Chunk sealInSlot(ChunkHeader header, ChunkSlot slot) {
        try {
            copyRows(null, slot.address(), header.lengthBytes());
            header.writeTo(null, slot.address(), schema);
            return Chunk.inSlot(schema, slot, header.lengthBytes());
        } catch (RuntimeException e) {
            slot.release();
            throw e;
        }
    }

    private int sealedBytes(int fixedEnd) {
        long length = fixedEnd;
        if (schema.hasVariableWidth()) {
            length += 4L * rowCount + variableWidthBytes;
        }
        if (length > Integer.MAX_VALUE - 8) {
            throw new ChunkFormatException("Chunk exceeds 2 GiB: lengthBytes=" + length);
        }
        return ChunkDescriptor.alignChunk((int) length);
    }

    /** Copies the rows so far to a chunk without a header, and zeros what is between columns. */
    private void copyRows(byte @Nullable [] base, long start, int lengthBytes) {
        int[] target = schema.offsets(rowCount);
        long end = start + ChunkDescriptor.HEADER_BYTES;
        for (int i = 0; i < widths.length; i++) {
            if (offsets[i] >= 0) {
                long columnBytes = (long) widths[i] * rowCount;
                end = zero(base, end, start + target[i]);
                Memory.copy(bytes, Memory.BYTES + offsets[i], base, end, columnBytes);
                end += columnBytes;
            }
        }
        end = zero(base, end, start + target[schema.size()]);
        if (schema.hasVariableWidth()) {
            Memory.copy(variableWidthEnds, Memory.INTS, base, end, 4L * rowCount);
            end += 4L * rowCount;
            Memory.copy(variableWidth, Memory.BYTES, base, end, variableWidthBytes);
            end += variableWidthBytes;
        }
        zero(base, end, start + lengthBytes);
    }

    private static long zero(byte @Nullable [] base, long from, long to) {
        Memory.fill(base, from, to - from, (byte) 0);
        return to;
    }

    private void checkSealable(int dimension) {
        if (dimension < ChunkDescriptor.FACTS || dimension > Short.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "Dimension number is out of range (facts -1, dimensions 0 to 32767): dimension="
                            + dimension);
        }
        if (variableWidthBytes != endedVariableWidthBytes()) {
            throw new IllegalStateException(
                    "Chunk is sealed in the middle of a row. Call endRow() or discardRow() first:"
                            + " row="
                            + rowCount);
        }
    }

    private int endedVariableWidthBytes() {
        return rowCount == 0 || !schema.hasVariableWidth() ? 0 : variableWidthEnds[rowCount - 1];
    }

    /**
     * Returns the offset of the next value; checks it, because the store that follows is unchecked.
     */
    private long offsetInColumn(int column, int widthBytes) {
        if (widths[column] != widthBytes) {
            throw new IllegalArgumentException(
                    "Value and column differ in width: column="
                            + schema.column(column)
                            + ", widthBytes="
                            + widthBytes);
        }
        checkRoom();
        return Memory.BYTES + offsets[column] + (long) widthBytes * rowCount;
    }

    private void checkRoom() {
        if (rowCount == capacityRows) {
            throw new IllegalStateException(
                    "Chunk is full. Call seal() first: capacityRows=" + capacityRows);
        }
    }

    private void appendInt(int value) {
        Memory.putInt(variableWidth, Memory.BYTES + variableWidthBytes, value);
        variableWidthBytes += 4;
    }

    private void reserve(long bytes) {
        long needed = variableWidthBytes + bytes;
        if (needed > Integer.MAX_VALUE - 64) {
            throw new ChunkFormatException(
                    "Variable-width values of a chunk exceed 2 GiB: variableWidthBytes=" + needed);
        }
        if (needed > variableWidth.length) {
            long grown =
                    Math.min(Integer.MAX_VALUE - 64, Math.max(needed, 2L * variableWidth.length));
            variableWidth = Arrays.copyOf(variableWidth, (int) grown);
        }
    }
}
