// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.jspecify.annotations.Nullable;

/**
 * Builds inserted rows in Flink's binary format. For each row: {@link #begin}, one put for each
 * field, {@link #build}.
 *
 * <pre>
 *   kind of the row, 1 byte, and a bit for each null | 8 bytes for each field | values out of line
 *
 *   number                    its bits, the rest zero
 *   bytes, up to 7            the bytes, from the lowest | 0x80 + length in the highest byte
 *   bytes, longer             length, 4 bytes | offset in the row, 4 bytes
 * </pre>
 *
 * <p>Each value out of line starts and ends at a multiple of 8 bytes, padded with zeros. So rows of
 * equal values are equal bytes, as Flink requires of keys. Not thread-safe.
 */
final class BinaryRowBuilder {

    /** Buffers up to this size are kept. */
    static final int KEPT_BYTES = 1 << 20;

    private static final int INLINE_BYTES = 7;
    private static final int INLINE_MARK = 0x80;

    private final int fields;
    private final int headerBytes;
    private final int fixedBytes;
    private byte[] bytes;
    private int end;

    BinaryRowBuilder(int fields) {
        this.fields = fields;
        this.headerBytes = BinaryRowData.calculateBitSetWidthInBytes(fields);
        this.fixedBytes = BinaryRowData.calculateFixPartSizeInBytes(fields);
        this.bytes = new byte[2 * fixedBytes];
    }

    /** Whether a buffer is large, and a row fills less than a quarter of it. */
    static boolean isOversized(int capacityBytes, int rowBytes) {
        return capacityBytes > KEPT_BYTES && capacityBytes / 4 > rowBytes;
    }

    /** Returns the capacity of a buffer for rows of about a size. */
    static int capacityFor(int rowBytes) {
        return (int) Math.min(2L * rowBytes, Integer.MAX_VALUE - Long.BYTES);
    }

    int capacityBytes() {
        return bytes.length;
    }

    void begin() {
        Arrays.fill(bytes, 0, fixedBytes, (byte) 0);
        end = fixedBytes;
    }

    void putNull(int field) {
        int bit = BinaryRowData.HEADER_SIZE_IN_BITS + field;
        bytes[bit / Byte.SIZE] |= (byte) (1 << bit % Byte.SIZE);
    }

    /** Puts a number of at most 8 bytes, zero-extended. */
    void putLong(int field, long bits) {
        Memory.putLong(bytes, Memory.BYTES + headerBytes + (long) Long.BYTES * field, bits);
    }

    /** Puts a text in UTF-8, or bytes; base and address are those of {@link Memory}. */
    void putBytes(int field, byte @Nullable [] base, long at, int lengthBytes) {
        if (lengthBytes > INLINE_BYTES) {
            putOutOfLine(field, base, at, lengthBytes);
            return;
        }
        long word = (long) (INLINE_MARK | lengthBytes) << Byte.SIZE * INLINE_BYTES;
        for (int i = 0; i < lengthBytes; i++) {
            word |= (Memory.getByte(base, at + i) & 0xFFL) << Byte.SIZE * i;
        }
        putLong(field, word);
    }

    /** Puts an array, a map or a row in Flink's binary format. */
    void putOutOfLine(int field, byte @Nullable [] base, long at, int lengthBytes) {
        int offset = reserve(lengthBytes);
        Memory.copy(base, at, bytes, Memory.BYTES + offset, lengthBytes);
        putOffset(field, offset, lengthBytes);
    }

    /** Puts a timestamp of more than milliseconds. */
    void putTimestamp(int field, long milliseconds, int nanosOfMillisecond) {
        int offset = reserve(Long.BYTES);
        Memory.putLong(bytes, Memory.BYTES + offset, milliseconds);
        putOffset(field, offset, nanosOfMillisecond);
    }

    /** Puts a field of a row of one field, which is not null. */
    void putFieldOf(BinaryRowData row, int field, boolean isOutOfLine) {
        int fixed = BinaryRowData.calculateFixPartSizeInBytes(1);
        long word = row.getSegments()[0].getLong(row.getOffset() + fixed - Long.BYTES);
        if (!isOutOfLine || word < 0) {
            putLong(field, word);
            return;
        }
        int length = row.getSizeInBytes() - fixed;
        int offset = reserve(length);
        row.getSegments()[0].get(row.getOffset() + fixed, bytes, offset, length);
        putOffset(field, offset, (int) word);
    }

    private void putOffset(int field, int offset, int low) {
        putLong(field, (long) offset << Integer.SIZE | low);
    }

    /** Returns the offset of a value out of line, whose last word is zero. */
    private int reserve(int lengthBytes) {
        int offset = end;
        end = Math.addExact(offset, Math.addExact(lengthBytes, Long.BYTES - 1)) & -Long.BYTES;
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, capacityFor(end));
        }
        if (end > offset) {
            Memory.putLong(bytes, Memory.BYTES + end - Long.BYTES, 0);
        }
        return offset;
    }

    /**
     * Returns the row, which is independent of the builder. A buffer that has grown for an earlier,
     * large row is released.
     */
    BinaryRowData build() {
        BinaryRowData row = new BinaryRowData(fields);
        row.pointTo(MemorySegmentFactory.wrap(Arrays.copyOf(bytes, end)), 0, end);
        if (isOversized(bytes.length, end)) {
            bytes = new byte[capacityFor(end)];
        }
        return row;
    }
}
