package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * Collects rows column by column and seals them into a {@link Chunk}; reused from chunk to chunk.
 *
 * <p>A row is written by putting every fixed column at {@link #rowCount()}, adding every carried
 * column in schema order, and {@link #endRow()}. A row that was begun and not ended is dropped by
 * {@link #abandonRow()}. Not thread-safe.
 */
public final class ChunkBuilder {

    private final ChunkSchema schema;
    private final int capacityRows;
    private final int targetBytes;
    private final int[] widths;

    /** Where each fixed column starts in {@link #bytes}: the layout of a chunk that is full. */
    private final int[] offsets;

    /** A chunk without a header; given away when it is sealed full, so that nothing is copied. */
    private byte[] bytes;

    private final int[] carriedEnds;
    private byte[] carried;
    private int carriedBytes;
    private int rowCount;

    /**
     * @param targetBytes payload size at which the chunk is full, 64 KiB to 1 MiB in practice
     */
    public ChunkBuilder(ChunkSchema schema, int targetBytes) {
        if (targetBytes <= 0) {
            throw new IllegalArgumentException(
                    "a chunk has room for something: targetBytes=" + targetBytes);
        }
        this.schema = schema;
        this.targetBytes = targetBytes;
        int rowBytes = schema.fixedRowBytes() + 8 * schema.carriedColumns();
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
        this.carriedEnds = schema.hasCarried() ? new int[capacityRows] : new int[0];
        this.carried = new byte[schema.hasCarried() ? Math.min(targetBytes, 4096) : 0];
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

    /** Whether the next row might not fit; a full builder must be sealed before another row. */
    public boolean isFull() {
        return rowCount == capacityRows
                || (long) rowCount * schema.fixedRowBytes() + carriedBytes >= targetBytes;
    }

    /** Sets a fixed INT32 column, or the raw bits of a FLOAT32 one. */
    public void putInt(int column, int value) {
        Memory.putInt(bytes, offsetInColumn(column, Integer.BYTES), value);
    }

    /** Sets a fixed INT64 column, or the raw bits of a FLOAT64 one. */
    public void putLong(int column, long value) {
        Memory.putLong(bytes, offsetInColumn(column, Long.BYTES), value);
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
        reserve(4L + length);
        appendInt(length);
        System.arraycopy(value, offset, carried, carriedBytes, length);
        carriedBytes += length;
    }

    /**
     * @throws IllegalArgumentException where a surrogate has no other half, as UTF-8 has none
     */
    public void addString(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        // What cannot be encoded is a question mark by now; most text has none.
        if (hasQuestionMark(utf8)) {
            requirePairs(value);
        }
        addBytes(utf8, 0, utf8.length);
    }

    private static boolean hasQuestionMark(byte[] bytes) {
        int at = 0;
        for (; at + 8 <= bytes.length; at += 8) {
            // A byte is zero, and borrows from its highest bit, where there was a question mark.
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
                            "text in a chunk has no surrogates without their other half: index="
                                    + i
                                    + ", char=0x"
                                    + Integer.toHexString(text.charAt(i)));
                }
                i++;
            }
        }
    }

    /** A nullable INT32 or FLOAT32 (its raw bits). */
    public void addInt(int value) {
        reserve(8);
        appendInt(4);
        appendInt(value);
    }

    /** A nullable INT64 or FLOAT64 (its raw bits). */
    public void addLong(long value) {
        reserve(12);
        appendInt(8);
        Memory.putLong(carried, Memory.BYTES + carriedBytes, value);
        carriedBytes += 8;
    }

    /** All carried columns of the row at once, as they stand in another chunk. */
    public void addCarriedRow(byte[] source, int start, int end) {
        reserve(end - start);
        System.arraycopy(source, start, carried, carriedBytes, end - start);
        carriedBytes += end - start;
    }

    /** Adds a row of a chunk of this schema. */
    public void addRow(Chunk source, int row) {
        putRow(source, row);
        endRow();
    }

    /**
     * Puts and adds all columns of a row of a chunk of this schema; {@link #endRow} is to follow.
     */
    public void putRow(Chunk source, int row) {
        if (!schema.equals(source.schema())) {
            throw new IllegalArgumentException(
                    "a row is copied between chunks of one schema: expected="
                            + schema
                            + ", schema="
                            + source.schema());
        }
        Objects.checkIndex(row, source.rowCount());
        checkRoom();
        for (int i = 0; i < widths.length; i++) {
            if (offsets[i] >= 0) {
                long from = Memory.BYTES + source.columnOffset(i) + (long) widths[i] * row;
                long to = Memory.BYTES + offsets[i] + (long) widths[i] * rowCount;
                Memory.copy(source.array(), from, bytes, to, widths[i]);
            }
        }
        if (schema.hasCarried()) {
            addCarriedRow(source.array(), source.carriedStart(row), source.carriedEnd(row));
        }
    }

    public void endRow() {
        checkRoom();
        if (schema.hasCarried()) {
            carriedEnds[rowCount] = carriedBytes;
        }
        rowCount++;
    }

    /** Forgets what was put since the last {@link #endRow()}. */
    public void abandonRow() {
        carriedBytes = endedCarriedBytes();
    }

    /**
     * Array behind the fixed columns, for loops that fill many rows and then {@link #advance}. Each
     * {@link #seal} may change it.
     */
    public byte[] array() {
        return bytes;
    }

    /**
     * Where a fixed column starts in {@link #array()}, always the same; -1 for a carried column.
     */
    public int columnOffset(int column) {
        return offsets[column];
    }

    /** Counts rows whose fixed columns were written through {@link #array}. */
    public void advance(int rows) {
        if (schema.hasCarried() || rows < 0 || rows > capacityRows - rowCount) {
            throw new IllegalArgumentException(
                    "rows are advanced within the capacity and without carried columns: rows="
                            + rows
                            + ", room="
                            + (capacityRows - rowCount));
        }
        rowCount += rows;
    }

    /**
     * Makes a chunk of the rows so far and starts anew.
     *
     * @throws IllegalStateException where a row was begun and neither ended nor abandoned
     * @throws ChunkFormatException where the rows break a rule of the layout, by carried values
     *     that are not those of the schema
     */
    public Chunk seal(int dimension, int partition, long epoch, long sequence) {
        return seal(dimension, partition, epoch, sequence, false);
    }

    /**
     * As {@link #seal}, of rows of many radix partitions.
     *
     * @param partition one of those of the rows' receiver
     */
    public Chunk sealMany(int dimension, int partition, long epoch, long sequence) {
        return seal(dimension, partition, epoch, sequence, true);
    }

    private Chunk seal(int dimension, int partition, long epoch, long sequence, boolean many) {
        checkSealable(dimension);
        boolean asItStands = rowCount == capacityRows && !schema.hasCarried();
        byte[] sealed = asItStands ? bytes : compacted();
        if (asItStands) {
            bytes = new byte[bytes.length];
        }
        writeHeader(sealed, dimension, partition, epoch, sequence);
        if (many) {
            long at = Memory.BYTES;
            Memory.putShort(
                    sealed,
                    at + ChunkDescriptor.VERSION_OFFSET,
                    (short) ChunkDescriptor.VERSION_WITH_FLAGS);
            Memory.putShort(
                    sealed,
                    at + ChunkDescriptor.FLAGS_OFFSET,
                    (short) ChunkDescriptor.MANY_PARTITIONS);
        }
        rowCount = 0;
        carriedBytes = 0;
        return Chunk.unverified(schema, sealed);
    }

    /** The rows so far in an array of their own, without a header. */
    private byte[] compacted() {
        int[] target = schema.offsets(rowCount);
        int fixedEnd = target[schema.size()];
        long length = fixedEnd;
        if (schema.hasCarried()) {
            length += 4L * rowCount + carriedBytes;
        }
        if (length > Integer.MAX_VALUE - 8) {
            throw new ChunkFormatException("a chunk ends before 2 GiB: lengthBytes=" + length);
        }
        byte[] copy = new byte[ChunkDescriptor.alignChunk((int) length)];
        for (int i = 0; i < widths.length; i++) {
            if (offsets[i] >= 0) {
                System.arraycopy(bytes, offsets[i], copy, target[i], widths[i] * rowCount);
            }
        }
        if (schema.hasCarried()) {
            for (int row = 0; row < rowCount; row++) {
                Memory.putInt(copy, Memory.BYTES + fixedEnd + 4L * row, carriedEnds[row]);
            }
            System.arraycopy(carried, 0, copy, fixedEnd + 4 * rowCount, carriedBytes);
        }
        return copy;
    }

    private void writeHeader(
            byte[] bytes, int dimension, int partition, long epoch, long sequence) {
        long at = Memory.BYTES;
        Memory.putInt(bytes, at + ChunkDescriptor.MAGIC_OFFSET, ChunkDescriptor.MAGIC);
        Memory.putShort(
                bytes, at + ChunkDescriptor.VERSION_OFFSET, (short) ChunkDescriptor.VERSION);
        Memory.putShort(
                bytes,
                at + ChunkDescriptor.HEADER_LENGTH_OFFSET,
                (short) ChunkDescriptor.HEADER_BYTES);
        Memory.putInt(bytes, at + ChunkDescriptor.LENGTH_OFFSET, bytes.length);
        Memory.putInt(bytes, at + ChunkDescriptor.ROW_COUNT_OFFSET, rowCount);
        Memory.putInt(bytes, at + ChunkDescriptor.SCHEMA_OFFSET, schema.fingerprint());
        Memory.putShort(bytes, at + ChunkDescriptor.DIMENSION_OFFSET, (short) dimension);
        Memory.putInt(bytes, at + ChunkDescriptor.PARTITION_OFFSET, partition);
        int carriedAt = schema.hasCarried() ? schema.offsets(rowCount)[schema.size()] : 0;
        Memory.putInt(bytes, at + ChunkDescriptor.CARRIED_OFFSET, carriedAt);
        Memory.putLong(bytes, at + ChunkDescriptor.EPOCH_OFFSET, epoch);
        Memory.putLong(bytes, at + ChunkDescriptor.SEQUENCE_OFFSET, sequence);
        Memory.putLong(bytes, at + ChunkDescriptor.CHECKSUM_OFFSET, ChunkChecksum.NONE);
    }

    private void checkSealable(int dimension) {
        if (dimension < ChunkDescriptor.FACTS || dimension > Short.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a chunk is of the facts or of a dimension from 0 to 32767: dimension="
                            + dimension);
        }
        if (carriedBytes != endedCarriedBytes()) {
            throw new IllegalStateException(
                    "a row that was begun is ended or abandoned before the chunk is sealed: row="
                            + rowCount);
        }
    }

    private int endedCarriedBytes() {
        return rowCount == 0 || !schema.hasCarried() ? 0 : carriedEnds[rowCount - 1];
    }

    /** Checked here, since memory beyond the array would be written otherwise. */
    private long offsetInColumn(int column, int widthBytes) {
        if (widths[column] != widthBytes) {
            throw new IllegalArgumentException(
                    "a value has the width of its fixed column: column="
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
                    "a full chunk must be sealed first: capacityRows=" + capacityRows);
        }
    }

    private void appendInt(int value) {
        Memory.putInt(carried, Memory.BYTES + carriedBytes, value);
        carriedBytes += 4;
    }

    private void reserve(long bytes) {
        long needed = carriedBytes + bytes;
        if (needed > Integer.MAX_VALUE - 64) {
            throw new ChunkFormatException(
                    "carried bytes of a chunk stay under 2 GiB: carriedBytes=" + needed);
        }
        if (needed > carried.length) {
            long grown = Math.min(Integer.MAX_VALUE - 64, Math.max(needed, 2L * carried.length));
            carried = Arrays.copyOf(carried, (int) grown);
        }
    }
}
