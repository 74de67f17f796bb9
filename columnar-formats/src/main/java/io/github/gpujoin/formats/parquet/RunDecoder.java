// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.encoding.PackedCodes;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import org.apache.parquet.io.ParquetDecodingException;

/**
 * Decodes Parquet's hybrid of runs and bit-packed groups (Parquet format, "RLE / Bit-Packing
 * Hybrid"): levels, and codes of dictionaries. Not thread-safe.
 */
final class RunDecoder {

    private static final int MAX_BITS = 32;

    private final byte[] bytes;
    private final int bits;
    private final int end;
    private int at;

    /** Values left in the current run or group. */
    private int left;

    private long stored;

    private boolean isPacked;

    /** Of the run. */
    private int value;

    /** Bit of the next value of the group. */
    private long bit;

    /**
     * @param bytes with at least 8 readable ones behind {@code end}
     * @param start offset of the first run
     * @param end offset after the last one
     * @throws ParquetDecodingException if a value has more than 32 bits
     */
    RunDecoder(byte[] bytes, int start, int end, int bits) {
        require(bits >= 0 && bits <= MAX_BITS, "Bits of a code are wrong", bits);
        this.bytes = bytes;
        this.at = start;
        this.end = end;
        this.bits = bits;
    }

    /**
     * Decodes values to {@code into[from]} and behind it.
     *
     * @throws ParquetDecodingException if there are fewer
     */
    void read(int[] into, int from, int count) {
        for (int done = 0; done < count; ) {
            if (left == 0) {
                startRun();
            }
            int some = Math.min(left, count - done);
            if (isPacked) {
                unpack(into, from + done, some);
            } else {
                Arrays.fill(into, from + done, from + done + some, value);
            }
            left -= some;
            done += some;
        }
    }

    /**
     * Copies values as they are packed. They have as many bits as the target's codes.
     *
     * @return the largest value
     * @throws ParquetDecodingException if there are fewer
     */
    int copy(PackedCodes into, int count) {
        int largest = 0;
        for (int done = 0; done < count; ) {
            if (left == 0) {
                startRun();
            }
            int some = Math.min(left, count - done);
            if (isPacked) {
                into.addPacked(bytes, bit, some);
                largest = Math.max(largest, largest(some));
                bit += (long) some * bits;
            } else {
                into.fill(value, some);
                largest = Math.max(largest, value);
            }
            left -= some;
            done += some;
        }
        return largest;
    }

    /** Returns the largest of the next packed values. */
    private int largest(int count) {
        long mask = (1L << bits) - 1;
        long position = bit;
        long most = 0;
        for (int i = 0; i < count; i++) {
            long word = Memory.getLong(bytes, Memory.BYTES + (position >>> 3));
            most = Math.max(most, word >>> (position & 7) & mask);
            position += bits;
        }
        return (int) most;
    }

    /** Returns the bits of a value. */
    int bits() {
        return bits;
    }

    /** Returns how many runs and packed values were started. */
    long stored() {
        return stored;
    }

    /**
     * Decodes some of the next values, and skips all others.
     *
     * @param into value {@code i} of {@code rows} goes to {@code into[i]}
     * @param rows the selected row numbers, ascending, {@code rows[from]} to {@code rows[end - 1]}
     * @param first row number of the next value
     * @param count number of values that are passed
     * @throws ParquetDecodingException if there are fewer
     */
    void select(int[] into, int[] rows, int from, int end, int first, int count) {
        int next = from;
        for (int done = 0; done < count; ) {
            if (left == 0) {
                startRun();
            }
            int some = Math.min(left, count - done);
            int start = first + done;
            int last = next;
            while (last < end && rows[last] < start + some) {
                last++;
            }
            if (isPacked) {
                unpackSelected(into, rows, next, last, start);
                bit += (long) some * bits;
            } else {
                Arrays.fill(into, next, last, value);
            }
            next = last;
            left -= some;
            done += some;
        }
    }

    private void unpackSelected(int[] into, int[] rows, int from, int end, int first) {
        long mask = (1L << bits) - 1;
        for (int i = from; i < end; i++) {
            long position = bit + (long) (rows[i] - first) * bits;
            long word = Memory.getLong(bytes, Memory.BYTES + (position >>> 3));
            into[i] = (int) (word >>> (position & 7) & mask);
        }
    }

    /**
     * Skips values.
     *
     * @throws ParquetDecodingException if there are fewer
     */
    void skip(int count) {
        for (int done = 0; done < count; ) {
            if (left == 0) {
                startRun();
            }
            int some = Math.min(left, count - done);
            if (isPacked) {
                bit += (long) some * bits;
            }
            left -= some;
            done += some;
        }
    }

    /** Skips values if all of them are equal to the given one; else does nothing. */
    boolean skipAll(int of, int count) {
        if (left == 0) {
            startRun();
        }
        if (isPacked || value != of || left < count) {
            return false;
        }
        left -= count;
        return true;
    }

    private void unpack(int[] into, int from, int count) {
        long mask = (1L << bits) - 1;
        long position = bit;
        for (int i = 0; i < count; i++) {
            long word = Memory.getLong(bytes, Memory.BYTES + (position >>> 3));
            into[from + i] = (int) (word >>> (position & 7) & mask);
            position += bits;
        }
        bit = position;
    }

    private void startRun() {
        int header = varint();
        isPacked = (header & 1) != 0;
        int count = header >>> 1;
        int valueBytes = bits + 7 >>> 3;
        if (isPacked) {
            require(count <= Integer.MAX_VALUE / 8, "Count of groups is wrong", count);
            bit = 8L * at;
            // The last group may be cut off behind its last value.
            left = (int) Math.min(8L * count, bits == 0 ? 8L * count : 8L * (end - at) / bits);
            at = (int) Math.min(end, at + (long) count * bits);
        } else {
            require(valueBytes <= end - at, "Value of a run is cut off", at);
            left = count;
            value = 0;
            for (int i = 0; i < valueBytes; i++) {
                value |= (bytes[at++] & 0xFF) << 8 * i;
            }
        }
        require(left > 0, "Run is empty", left);
        stored += isPacked ? left : 1;
    }

    private int varint() {
        int result = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            require(at < end, "Page has fewer values than it says", at);
            int next = bytes[at++];
            result |= (next & 0x7F) << shift;
            if (next >= 0) {
                return result;
            }
        }
        throw new ParquetDecodingException("Header of a run is too long: offset=" + at);
    }

    private static void require(boolean holds, String fault, long value) {
        if (!holds) {
            throw new ParquetDecodingException(fault + ": value=" + value);
        }
    }
}
