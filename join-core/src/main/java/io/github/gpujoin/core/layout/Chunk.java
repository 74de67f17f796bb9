// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static io.github.gpujoin.core.layout.ChunkDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.PARTITION_OFFSET;

import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A sealed batch of rows in columns, in one piece of memory with the layout of {@link
 * ChunkDescriptor}: a byte array, or a {@link ChunkSlot} of native memory. Immutable and
 * thread-safe.
 *
 * <p>The factory methods check every header field against the length of the memory before they read
 * anything else. All column extents are then inside it, so that hot loops may read {@link #array()}
 * at {@link #columnStart} without further checks. The getters check the row.
 *
 * <p>A chunk in a slot is readable until its last user {@linkplain #release releases} it. A caller
 * that keeps it longer {@linkplain #retain retains} it, or keeps {@link #onHeap()}. On the heap
 * both calls have no effect.
 *
 * <p>The only other kind is {@code io.github.gpujoin.core.encoding.EncodedChunk}.
 */
public class Chunk {

    private final ChunkSchema schema;

    /** Null if the chunk is in a slot. */
    private final byte @Nullable [] array;

    /** Offset of the header, as in {@link Memory}. */
    private final long start;

    private final ChunkHeader header;
    private final int[] offsets;

    /** Null if the chunk is on the heap. */
    private final @Nullable ChunkSlot slot;

    private final boolean isTransient;

    /**
     * @param array null if the chunk is in a slot
     * @param start offset of the header, as in {@link Memory}
     * @param offsets of the columns, as {@link ChunkSchema#offsets}
     * @param slot null if the chunk is on the heap
     * @param isTransient as in {@link #isTransient()}
     */
    protected Chunk(
            ChunkSchema schema,
            byte @Nullable [] array,
            long start,
            ChunkHeader header,
            int[] offsets,
            @Nullable ChunkSlot slot,
            boolean isTransient) {
        this.schema = schema;
        this.array = array;
        this.start = start;
        this.header = header;
        this.offsets = offsets;
        this.slot = slot;
        this.isTransient = isTransient;
    }

    /**
     * Returns the chunk that fills an array.
     *
     * @param bytes owned by the chunk from now on
     * @throws ChunkFormatException if a header field, an extent or the checksum is wrong
     */
    public static Chunk wrap(ChunkSchema schema, byte[] bytes) {
        Chunk chunk = unverified(schema, bytes);
        ChunkChecksum.require(bytes, Memory.BYTES, bytes.length);
        return chunk;
    }

    /**
     * Does the same as {@link #wrap} but does not verify the checksum; for bytes that this process
     * has just written or verified. {@link #bytes()} computes the checksum if its field is 0.
     */
    public static Chunk unverified(ChunkSchema schema, byte[] bytes) {
        return ofArray(schema, bytes, false);
    }

    /**
     * @param isTransient whether the array is overwritten after the call that receives the chunk
     */
    static Chunk ofArray(ChunkSchema schema, byte[] bytes, boolean isTransient) {
        ChunkHeader header = ChunkHeader.read(schema, bytes, Memory.BYTES, bytes.length);
        int[] offsets = ChunkExtents.check(schema, header, bytes, Memory.BYTES);
        return new Chunk(schema, bytes, Memory.BYTES, header, offsets, null, isTransient);
    }

    /**
     * Returns the chunk that a slot contains, without verifying its checksum. The header is read
     * once, so that nothing which is written to the slot later changes where columns are.
     *
     * @param lengthBytes of the chunk, at most the capacity of the slot
     * @param slot which the chunk releases with its last user
     * @throws ChunkFormatException if a header field or an extent is wrong; the caller still owns
     *     the slot
     */
    public static Chunk inSlot(ChunkSchema schema, ChunkSlot slot, int lengthBytes) {
        long address = slot.address();
        ChunkHeader header = ChunkHeader.read(schema, null, address, lengthBytes);
        int[] offsets = ChunkExtents.check(schema, header, null, address);
        return new Chunk(schema, null, address, header, offsets, slot, false);
    }

    public ChunkSchema schema() {
        return schema;
    }

    public int rowCount() {
        return header.rowCount();
    }

    public int lengthBytes() {
        return header.lengthBytes();
    }

    /** Returns the number of the chunk's dimension, or {@link ChunkDescriptor#FACTS}. */
    public int dimension() {
        return header.dimension();
    }

    /**
     * Returns the radix partition of all rows, or {@link ChunkDescriptor#UNPARTITIONED}. If the
     * chunk {@linkplain #hasManyPartitions() has many partitions}, this is one partition of its
     * receiver.
     */
    public int partition() {
        return header.partition();
    }

    /**
     * Whether the rows are of several radix partitions of one receiver. The key of a row determines
     * its partition.
     */
    public boolean hasManyPartitions() {
        return (header.flags() & ChunkDescriptor.MANY_PARTITIONS) != 0;
    }

    public long epoch() {
        return header.epoch();
    }

    public long sequence() {
        return header.sequence();
    }

    // ------------------------------------------------------------------ users of a slot

    /** Returns the slot of the chunk, or null if it is on the heap. */
    public @Nullable ChunkSlot slot() {
        return slot;
    }

    /** Adds a user, who calls {@link #release} once. */
    public void retain() {
        if (slot != null) {
            slot.retain();
        }
    }

    /** Removes a user. The chunk must not be read after its last user's call. */
    public void release() {
        if (slot != null) {
            slot.release();
        }
    }

    /**
     * Verifies the checksum of a chunk in a slot whose bytes may not have arrived, and waits at
     * most 100 ms for them; has no effect on other chunks.
     *
     * @throws ChunkFormatException if the checksum is wrong
     */
    public void verify() {
        if (slot != null && !slot.isVerified()) {
            ChunkChecksum.requireArrived(start, lengthBytes());
        }
    }

    /**
     * Returns this chunk if it is on the heap and not {@linkplain #isTransient transient}, else a
     * copy there, which is verified if the slot is not.
     */
    public Chunk onHeap() {
        return slot == null && !isTransient ? this : ofCopy(copy(), header);
    }

    /**
     * Whether the memory of the chunk is overwritten after the call that receives the chunk, as
     * records of Flink are if object reuse is enabled. A receiver keeps {@link #onHeap()}.
     */
    public boolean isTransient() {
        return isTransient;
    }

    // ------------------------------------------------------------------ bytes

    /**
     * Returns the chunk as it is sent or stored, checksum included; a copy if the chunk is in a
     * slot. The caller must not modify it.
     *
     * <p>The first call computes the checksum, so that a chunk that never leaves its thread needs
     * none.
     */
    public byte[] bytes() {
        return completed(array == null ? copy() : array);
    }

    /** Returns the checksum of the header alone, the chunk's own checksum left out. */
    public final long headerChecksum() {
        return ChunkChecksum.of(array, start, ChunkDescriptor.HEADER_BYTES);
    }

    private static byte[] completed(byte[] bytes) {
        long at = Memory.BYTES + CHECKSUM_OFFSET;
        // Concurrent callers write the same value, and the store of an aligned long is atomic.
        if (Memory.getLong(bytes, at) == ChunkChecksum.NONE) {
            Memory.putLong(bytes, at, ChunkChecksum.of(bytes, Memory.BYTES, bytes.length));
        }
        return bytes;
    }

    /** Returns a copy of {@link #bytes()} without a checksum if it has not been computed. */
    protected final byte[] copy() {
        verify();
        byte[] copy = new byte[lengthBytes()];
        Memory.copy(array, start, copy, Memory.BYTES, copy.length);
        if (slot != null && !slot.isVerified()) {
            ChunkChecksum.require(copy, Memory.BYTES, copy.length);
        }
        if (slot != null) {
            slot.requireIntact();
        }
        return copy;
    }

    /** Returns the chunk in a copy of its bytes, whose columns are where they are here. */
    private Chunk ofCopy(byte[] copy, ChunkHeader header) {
        return new Chunk(schema, copy, Memory.BYTES, header, offsets, null, false);
    }

    /**
     * Returns the array of a chunk on the heap, or null for one in a slot: the base of {@link
     * #start()} and the other offsets, as in {@link Memory}. The checksum in it may be missing.
     *
     * <p>The compiler reads faster where it knows which of the two it is, so hot loops come in two
     * variants.
     */
    public byte @Nullable [] array() {
        return array;
    }

    /** Returns the offset of the header in {@link #array()}, or its address. */
    public long start() {
        return start;
    }

    /**
     * Returns the offset of the first value of a fixed-width column in {@link #array()}, or its
     * address.
     *
     * @throws IllegalArgumentException if the column has variable width
     */
    public long columnStart(int column) {
        int offset = offsets[column];
        if (offset < 0) {
            throw new IllegalArgumentException(
                    "Column has variable width: column=" + schema.column(column));
        }
        return start + offset;
    }

    // ------------------------------------------------------------------ values

    /** Returns the value of an INT8, INT16 or INT32 column. */
    public int getInt(int column, int row) {
        return (int) integer(column, row, ColumnType.INT32);
    }

    /** Returns the value of an integer column. */
    public long getLong(int column, int row) {
        return integer(column, row, ColumnType.INT64);
    }

    private long integer(int column, int row, ColumnType widest) {
        ColumnType read = schema.column(column).type().readUpTo(widest);
        return Memory.getInteger(array, fixedAt(column, row, read), read.widthBytes());
    }

    /** Returns the value of a FLOAT32 or FLOAT64 column. */
    public double getDouble(int column, int row) {
        if (schema.column(column).type() == ColumnType.FLOAT32) {
            int bits = Memory.getInt(array, fixedAt(column, row, ColumnType.FLOAT32));
            return Float.intBitsToFloat(bits);
        }
        long bits = Memory.getLong(array, fixedAt(column, row, ColumnType.FLOAT64));
        return Double.longBitsToDouble(bits);
    }

    /**
     * Returns a copy on the heap with other values in a fixed-width INT64 column.
     *
     * @param values maps a row number to its value
     */
    public Chunk withLongs(int column, IntToLongFunction values) {
        byte[] copy = copy();
        for (int row = 0; row < rowCount(); row++) {
            long at = Memory.BYTES + fixedAt(column, row, ColumnType.INT64) - start;
            Memory.putLong(copy, at, values.applyAsLong(row));
        }
        Memory.putLong(copy, Memory.BYTES + CHECKSUM_OFFSET, ChunkChecksum.NONE);
        return ofCopy(copy, header);
    }

    /**
     * Returns a copy on the heap with another radix partition.
     *
     * @param partition from 0, or {@link ChunkDescriptor#UNPARTITIONED}
     */
    public Chunk withPartition(int partition) {
        byte[] copy = copy();
        Memory.putInt(copy, Memory.BYTES + PARTITION_OFFSET, partition);
        Memory.putLong(copy, Memory.BYTES + CHECKSUM_OFFSET, ChunkChecksum.NONE);
        return ofCopy(copy, header.withPartition(partition));
    }

    /**
     * Returns the offset of the row's variable-width values in {@link #array()}, or their address.
     */
    public long variableWidthStart(int row) {
        checkVariableWidthRow(row);
        return row == 0 ? variableWidthData() : variableWidthData() + endOf(row - 1);
    }

    /** Returns the offset after the row's variable-width values in {@link #array()}, or address. */
    public long variableWidthEnd(int row) {
        checkVariableWidthRow(row);
        return variableWidthData() + endOf(row);
    }

    /** Returns the offset of the variable-width section in the chunk, or 0 if it has none. */
    public int variableWidthOffset() {
        return header.variableWidthOffset();
    }

    private long variableWidthData() {
        return start + offsets[schema.size()] + 4L * rowCount();
    }

    private int endOf(int row) {
        return Memory.getInt(array, start + offsets[schema.size()] + 4L * row);
    }

    private long fixedAt(int column, int row, ColumnType expected) {
        checkRow(row);
        Column declared = schema.column(column);
        if (declared.type() != expected || offsets[column] < 0) {
            throw new IllegalArgumentException(
                    "Column is read as another type: column=" + declared + ", as=" + expected);
        }
        return start + offsets[column] + (long) expected.widthBytes() * row;
    }

    private void checkRow(int row) {
        if (row < 0 || row >= rowCount()) {
            throw new IndexOutOfBoundsException("row=" + row + ", rowCount=" + rowCount());
        }
    }

    private void checkVariableWidthRow(int row) {
        checkRow(row);
        if (!schema.hasVariableWidth()) {
            throw new IllegalArgumentException(
                    "Schema has no variable-width column: schema=" + schema);
        }
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
                + rowCount()
                + ", lengthBytes="
                + lengthBytes()
                + ", dimension="
                + dimension()
                + ", partition="
                + partition()
                + ", sequence="
                + sequence()
                + "]";
    }
}
