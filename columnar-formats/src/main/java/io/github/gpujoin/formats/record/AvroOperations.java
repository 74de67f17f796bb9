// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import io.github.gpujoin.core.region.Memory;
import java.lang.invoke.MethodHandle;

/**
 * What a program does with a field. Each operation reads or skips the value at {@code at} in an
 * array whose record ends before {@code to}, and returns the index behind the value. The parameters
 * after the row are constants of the program.
 */
final class AvroOperations {

    private AvroOperations() {}

    /** A number into a fixed-width column of 8 bytes, which starts at an offset of the array. */
    static int number8(int at, byte[] in, int to, RowWriter row, long start)
            throws BadRecordException {
        long word = Varints.word(in, at, to);
        long value = Varints.value(word, in, at, to);
        Memory.putLong(row.target(), start + Long.BYTES * row.index(), value);
        return Varints.next(word, in, at, to);
    }

    /** The same for a column of 4 bytes. */
    static int number4(int at, byte[] in, int to, RowWriter row, long start, int column)
            throws BadRecordException {
        long word = Varints.word(in, at, to);
        long value = Varints.value(word, in, at, to);
        if ((int) value != value) {
            throw row.outOfRange(column, value);
        }
        Memory.putInt(row.target(), start + Integer.BYTES * row.index(), (int) value);
        return Varints.next(word, in, at, to);
    }

    /** A number of some bits into any column of integers. */
    static int integer(int at, byte[] in, int to, RowWriter row, int column, int bits)
            throws BadRecordException {
        long word = Varints.word(in, at, to);
        long value = Varints.value(word, in, at, to);
        if (bits == Integer.SIZE && (int) value != value) {
            throw new BadRecordException("Number is no int: value=" + value);
        }
        row.putLong(column, value);
        return Varints.next(word, in, at, to);
    }

    static int bool(int at, byte[] in, int to, RowWriter row, int column)
            throws BadRecordException {
        int next = skip(at, in, to, row, 1);
        row.putLong(column, in[at] != 0 ? 1 : 0);
        return next;
    }

    /** 8 bytes into a fixed-width column of 8 bytes. */
    static int raw8(int at, byte[] in, int to, RowWriter row, long start)
            throws BadRecordException {
        int next = skip(at, in, to, row, Long.BYTES);
        long bits = Memory.getLong(in, Memory.BYTES + at);
        Memory.putLong(row.target(), start + Long.BYTES * row.index(), bits);
        return next;
    }

    /** 4 bytes into a fixed-width column of 4 bytes. */
    static int raw4(int at, byte[] in, int to, RowWriter row, long start)
            throws BadRecordException {
        int next = skip(at, in, to, row, Integer.BYTES);
        int bits = Memory.getInt(in, Memory.BYTES + at);
        Memory.putInt(row.target(), start + Integer.BYTES * row.index(), bits);
        return next;
    }

    static int float4(int at, byte[] in, int to, RowWriter row, int column)
            throws BadRecordException {
        int next = skip(at, in, to, row, Float.BYTES);
        row.putDouble(column, Float.intBitsToFloat(Memory.getInt(in, Memory.BYTES + at)));
        return next;
    }

    static int float8(int at, byte[] in, int to, RowWriter row, int column)
            throws BadRecordException {
        int next = skip(at, in, to, row, Double.BYTES);
        row.putDouble(column, Double.longBitsToDouble(Memory.getLong(in, Memory.BYTES + at)));
        return next;
    }

    /** A length and bytes. */
    static int bytes(int at, byte[] in, int to, RowWriter row, int column)
            throws BadRecordException {
        int next = skipBytes(at, in, to, row);
        int start = Varints.next(Varints.word(in, at, to), in, at, to);
        row.setBytes(column, in, start, next - start);
        return next;
    }

    static int fixed(int at, byte[] in, int to, RowWriter row, int column, int size)
            throws BadRecordException {
        int next = skip(at, in, to, row, size);
        row.setBytes(column, in, at, size);
        return next;
    }

    static int symbol(int at, byte[] in, int to, RowWriter row, int column, byte[][] symbols)
            throws BadRecordException {
        long word = Varints.word(in, at, to);
        long number = Varints.value(word, in, at, to);
        if (number < 0 || number >= symbols.length) {
            throw new BadRecordException(
                    "Enum has no such symbol: number=" + number + ", symbols=" + symbols.length);
        }
        byte[] symbol = symbols[(int) number];
        row.setBytes(column, symbol, 0, symbol.length);
        return Varints.next(word, in, at, to);
    }

    /** A length and the bytes of a big-endian integer. */
    static int decimal(int at, byte[] in, int to, RowWriter row, int column)
            throws BadRecordException {
        int next = skipBytes(at, in, to, row);
        int start = Varints.next(Varints.word(in, at, to), in, at, to);
        row.putLong(column, unscaled(in, start, next));
        return next;
    }

    static int fixedDecimal(int at, byte[] in, int to, RowWriter row, int column, int size)
            throws BadRecordException {
        int next = skip(at, in, to, row, size);
        row.putLong(column, unscaled(in, at, next));
        return next;
    }

    private static long unscaled(byte[] in, int from, int to) throws BadRecordException {
        long value = from == to ? 0 : in[from] >> 7;
        for (int i = from; i < to; i++) {
            if (value << 8 >> 8 != value) {
                throw new BadRecordException(
                        "Decimal has more than 64 bits: lengthBytes=" + (to - from));
            }
            value = value << 8 | in[i] & 0xFF;
        }
        return value;
    }

    static int putNull(int at, byte[] in, int to, RowWriter row, int column)
            throws BadRecordException {
        row.putNull(column);
        return at;
    }

    /** Reads a default, which another operation decodes. */
    static int constant(
            int at, byte[] in, int to, RowWriter row, MethodHandle operation, byte[] value)
            throws Throwable {
        int unused = (int) operation.invokeExact(0, value, value.length, row);
        return at;
    }

    /** Some bytes. */
    static int skip(int at, byte[] in, int to, RowWriter row, long count)
            throws BadRecordException {
        if (count < 0 || count > to - at) {
            throw count < 0
                    ? new BadRecordException("Length is negative: length=" + count)
                    : Varints.truncated(count, to - at);
        }
        return at + (int) count;
    }

    static int skipBytes(int at, byte[] in, int to, RowWriter row) throws BadRecordException {
        long word = Varints.word(in, at, to);
        int start = Varints.next(word, in, at, to);
        return skip(start, in, to, row, Varints.value(word, in, at, to));
    }

    /** Some numbers. */
    static int skipNumbers(int at, byte[] in, int to, RowWriter row, long count)
            throws BadRecordException {
        return Varints.skip(in, at, to, count);
    }

    static int skipNested(
            int at, byte[] in, int to, RowWriter row, AvroSkips.Skip skip, AvroCursor cursor)
            throws BadRecordException {
        cursor.wrap(in, at, to);
        skip.apply(cursor, 0);
        return cursor.position();
    }

    /** Returns the number of a union's branch, or -1 for one that does not fit an int. */
    static int branch(int at, byte[] in, int to, RowWriter row) throws BadRecordException {
        long branch = Varints.value(Varints.word(in, at, to), in, at, to);
        return (int) branch == branch ? (int) branch : -1;
    }

    /** Fails for a number that no branch has. */
    static int noBranch(int branch, int at, byte[] in, int to, RowWriter row)
            throws BadRecordException {
        throw new BadRecordException("Union has no such branch: branch=" + branch);
    }
}
