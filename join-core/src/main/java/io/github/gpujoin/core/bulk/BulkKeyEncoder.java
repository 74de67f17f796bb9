// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;

/**
 * Encodes the keys of one input as words of 64 bits, on which implementations join.
 *
 * <p>If all key columns are integers of at most 8 bytes together, and no null equals another, the
 * word is <em>exact</em>: each column at its byte offset, in the width of the wider input.
 * Otherwise the word is a hash, and two keys are equal if their words and their <em>key bytes</em>
 * are: for each column {@code int32 length} (-1 for null) and the value, integers widened to 8
 * bytes. Only words of one process compare.
 *
 * <p>The methods without a parameter {@code chunk} are about the rows of the last {@link #encode}.
 * Not thread-safe.
 */
public final class BulkKeyEncoder {

    private static final int NULL = -1;

    private final BulkInput input;
    private final boolean[] nullsAreEqual;
    private final boolean isExact;

    /** Bytes of each key column in an exact word. */
    private final int[] wordWidths;

    private final VariableWidthRow values;
    private final long[] words;
    private final boolean[] isNull;
    private final int[] ends;
    private byte[] bytes = new byte[64];
    private boolean hasNulls;

    /**
     * @param maxRows of one call of {@link #encode}
     */
    public BulkKeyEncoder(BulkJoinSpec spec, JoinSide side, int maxRows) {
        this.input = spec.input(side);
        this.nullsAreEqual = new boolean[input.keyColumns().size()];
        spec.keysWithEqualNulls().forEach(key -> nullsAreEqual[key] = true);
        this.isExact = isExact(spec);
        this.wordWidths = wordWidths(spec);
        this.values = new VariableWidthRow(input.schema());
        this.words = new long[maxRows];
        this.isNull = new boolean[maxRows];
        this.ends = new int[isExact ? 0 : maxRows];
    }

    /** Whether the words of a join are exact. */
    public static boolean isExact(BulkJoinSpec spec) {
        int sum = 0;
        for (int i = 0; i < spec.left().keyColumns().size(); i++) {
            Column left = keyColumn(spec.left(), i);
            Column right = keyColumn(spec.right(), i);
            boolean hasEqualNulls = spec.nullsAreEqual(i) && left.nullable() && right.nullable();
            if (!left.type().isInteger() || hasEqualNulls) {
                return false;
            }
            sum += Math.max(left.type().widthBytes(), right.type().widthBytes());
        }
        return sum <= Long.BYTES;
    }

    /** Returns the bytes of an exact word that differ between keys, the lowest ones: 1 to 8. */
    public static int wordBytes(BulkJoinSpec spec) {
        return Arrays.stream(wordWidths(spec)).sum();
    }

    private static int[] wordWidths(BulkJoinSpec spec) {
        int[] widths = new int[spec.left().keyColumns().size()];
        Arrays.setAll(
                widths,
                i ->
                        Math.max(
                                keyColumn(spec.left(), i).type().widthBytes(),
                                keyColumn(spec.right(), i).type().widthBytes()));
        return widths;
    }

    private static Column keyColumn(BulkInput input, int i) {
        return input.schema().column(input.keyColumns().get(i));
    }

    /**
     * Returns where the value of a fixed-width column is in an exact word, in its own width.
     *
     * @return byte offset from the lowest byte, or -1 if it is not in the word
     */
    public static int wordOffset(BulkJoinSpec spec, JoinSide side, int column) {
        int place = spec.input(side).keyColumns().indexOf(column);
        boolean isFixed = spec.input(side).schema().column(column).isFixed();
        if (!isExact(spec) || place < 0 || !isFixed) {
            return -1;
        }
        return Arrays.stream(wordWidths(spec), 0, place).sum();
    }

    /** Encodes the keys of rows. */
    public void encode(Chunk chunk, int firstRow, int count) {
        if (hasNulls) {
            Arrays.fill(isNull, false);
            hasNulls = false;
        }
        if (isExact) {
            encodeExact(chunk, firstRow, count);
        } else {
            encodeBytes(chunk, firstRow, count);
        }
    }

    /** Returns the words, which the caller must not modify. */
    public long[] words() {
        return words;
    }

    /** Whether some rows have no match because of a null in their key. */
    public boolean hasNulls() {
        return hasNulls;
    }

    /** Whether a row has no match because of a null in its key; its word is undefined then. */
    public boolean isNull(int row) {
        return isNull[row];
    }

    /** Returns an array with the key bytes of all rows, if words are not exact. */
    public byte[] keyBytes() {
        return bytes;
    }

    /** Returns the index of the first key byte of a row. */
    public int keyStart(int row) {
        return row == 0 ? 0 : ends[row - 1];
    }

    /** Returns the index after the last key byte of a row. */
    public int keyEnd(int row) {
        return ends[row];
    }

    // ------------------------------------------------------------------ exact words

    private void encodeExact(Chunk chunk, int firstRow, int count) {
        if (wordWidths.length == 1
                && wordWidths[0] == Long.BYTES
                && input.schema().column(input.keyColumns().get(0)).isFixed()
                && keyColumn(input, 0).type().widthBytes() == Long.BYTES) {
            long start = chunk.columnStart(input.keyColumns().get(0)) + 8L * firstRow;
            Memory.copy(chunk.array(), start, words, Memory.LONGS, 8L * count);
            return;
        }
        Arrays.fill(words, 0, count, 0);
        int shift = 0;
        for (int i = 0; i < wordWidths.length; i++) {
            int widthBits = Byte.SIZE * wordWidths[i];
            long mask = -1L >>> (Long.SIZE - widthBits);
            int column = input.keyColumns().get(i);
            if (input.schema().column(column).isFixed()) {
                addFixed(chunk, column, firstRow, count, mask, shift);
            } else {
                addNullable(chunk, column, firstRow, count, mask, shift);
            }
            shift += widthBits;
        }
    }

    private void addFixed(Chunk chunk, int column, int firstRow, int count, long mask, int shift) {
        int width = input.schema().column(column).type().widthBytes();
        byte[] array = chunk.array();
        long start = chunk.columnStart(column) + (long) width * firstRow;
        if (width == Integer.BYTES) {
            for (int row = 0; row < count; row++) {
                words[row] |= (Memory.getInt(array, start + 4L * row) & mask) << shift;
            }
        } else {
            for (int row = 0; row < count; row++) {
                long value = Memory.getInteger(array, start + (long) width * row, width);
                words[row] |= (value & mask) << shift;
            }
        }
    }

    private void addNullable(
            Chunk chunk, int column, int firstRow, int count, long mask, int shift) {
        byte[] array = chunk.array();
        for (int row = 0; row < count; row++) {
            values.at(chunk, firstRow + row);
            if (values.isNull(column)) {
                setNull(row);
            } else {
                int width = values.lengthBytes(column);
                long value = Memory.getInteger(array, values.start(column), width);
                words[row] |= (value & mask) << shift;
            }
        }
    }

    private void setNull(int row) {
        isNull[row] = true;
        hasNulls = true;
    }

    // ------------------------------------------------------------------ key bytes

    private void encodeBytes(Chunk chunk, int firstRow, int count) {
        int end = 0;
        for (int row = 0; row < count; row++) {
            int start = end;
            if (input.schema().hasVariableWidth()) {
                values.at(chunk, firstRow + row);
            }
            for (int key = 0; key < nullsAreEqual.length; key++) {
                end = append(chunk, firstRow + row, key, end);
                if (end < 0) {
                    end = start;
                    setNull(row);
                    break;
                }
            }
            ends[row] = end;
            words[row] = hash(start, end);
        }
    }

    /** Appends the value of a key column, and returns the new end; -1 if the row has no match. */
    private int append(Chunk chunk, int row, int key, int end) {
        int column = input.keyColumns().get(key);
        Column described = input.schema().column(column);
        if (!described.isFixed() && values.isNull(column)) {
            reserve(end + Integer.BYTES);
            Memory.putInt(bytes, Memory.BYTES + end, NULL);
            return nullsAreEqual[key] ? end + Integer.BYTES : -1;
        }
        if (described.type().isInteger()) {
            int width = described.type().widthBytes();
            long at =
                    described.isFixed()
                            ? chunk.columnStart(column) + (long) width * row
                            : values.start(column);
            reserve(end + Integer.BYTES + Long.BYTES);
            Memory.putInt(bytes, Memory.BYTES + end, Long.BYTES);
            long value = Memory.getInteger(chunk.array(), at, width);
            Memory.putLong(bytes, Memory.BYTES + end + Integer.BYTES, value);
            return end + Integer.BYTES + Long.BYTES;
        }
        int length = values.lengthBytes(column);
        reserve(Math.addExact(end, Integer.BYTES + length));
        Memory.putInt(bytes, Memory.BYTES + end, length);
        long target = Memory.BYTES + end + Integer.BYTES;
        Memory.copy(chunk.array(), values.start(column), bytes, target, length);
        return end + Integer.BYTES + length;
    }

    private void reserve(int lengthBytes) {
        if (lengthBytes > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(lengthBytes, bytes.length + (bytes.length >> 1)));
        }
    }

    /** Hashes with the constants of the process, so that nobody can choose keys that collide. */
    private long hash(int start, int end) {
        long h = end - start;
        int at = start;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            h = SlotHash.hash(h ^ Memory.getLong(bytes, Memory.BYTES + at));
        }
        long last = 0;
        for (int i = end - 1; i >= at; i--) {
            last = last << Byte.SIZE | bytes[i] & 0xFF;
        }
        return SlotHash.hash(h ^ last);
    }
}
