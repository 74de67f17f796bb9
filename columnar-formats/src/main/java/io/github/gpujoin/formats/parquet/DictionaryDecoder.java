// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.encoding.PackedCodes;
import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.region.Memory;
import java.util.Objects;
import org.apache.parquet.io.ParquetDecodingException;
import org.jspecify.annotations.Nullable;

/** Decodes codes of a dictionary (Parquet's RLE_DICTIONARY). */
final class DictionaryDecoder extends ValueDecoder {

    /** The values of a column chunk's dictionary. Not thread-safe. */
    static final class Values {

        /** Integers or bits of floats; null for byte sequences. */
        private final long @Nullable [] longs;

        private final @Nullable Binaries binaries;
        private final int size;
        private @Nullable LongCondition tested;

        /** For each code, 1 if its value meets the tested condition, else 0. */
        private byte[] passes = new byte[0];

        Values(long @Nullable [] longs, @Nullable Binaries binaries, int size) {
            this.longs = longs;
            this.binaries = binaries;
            this.size = size;
        }

        /** Returns the integers by code. */
        long[] longs() {
            return Objects.requireNonNull(longs);
        }

        int size() {
            return size;
        }

        /** Returns about the bytes of a chunk's column of this dictionary and codes. */
        long codedBytes(int rows, int widthBytes) {
            return (long) size * widthBytes + (long) rows * bits() / Byte.SIZE;
        }

        /** Returns the bits of the largest code. */
        int bits() {
            return Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(0, size - 1));
        }

        private byte[] passes(LongCondition condition) {
            if (condition != tested) {
                tested = condition;
                passes = new byte[size];
                for (int code = 0; code < size; code++) {
                    passes[code] = (byte) (condition.mayAccept(longs[code]) ? 1 : 0);
                }
            }
            return passes;
        }
    }

    private final RunDecoder codes;
    private final Values values;
    private int[] batch = new int[0];

    DictionaryDecoder(PageBytes page, Values values) {
        page.require(page.start(), 1);
        int bits = page.bytes()[page.start()];
        this.codes = new RunDecoder(page.bytes(), page.start() + 1, page.end(), bits);
        this.values = values;
    }

    /** Returns what the codes stand for. */
    Values values() {
        return values;
    }

    /** Adds the next codes to others, whose bits are those of the largest code. */
    void copyCodes(PackedCodes into, int count) {
        if (codes.bits() == into.bits()) {
            requireCode(codes.copy(into, count));
        } else {
            // The dictionary grew while pages were written.
            readCodes(count);
            into.add(batch, 0, count);
        }
    }

    /** Returns how many runs and packed codes of the page were started. */
    long stored() {
        return codes.stored();
    }

    @Override
    void readLongs(long[] into, int from, int count) {
        readCodes(count);
        for (int i = 0; i < count; i++) {
            into[from + i] = values.longs[batch[i]];
        }
    }

    @Override
    boolean readColumn(byte[] target, int at, int widthBytes, int count) {
        readCodes(count);
        long[] longs = values.longs;
        long to = Memory.BYTES + at;
        if (widthBytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target, to + 8L * i, longs[batch[i]]);
            }
        } else if (widthBytes == Integer.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putInt(target, to + 4L * i, (int) longs[batch[i]]);
            }
        } else {
            for (int i = 0; i < count; i++) {
                Memory.putInteger(target, to + (long) widthBytes * i, widthBytes, longs[batch[i]]);
            }
        }
        return true;
    }

    @Override
    void readBinaries(Binaries into, int from, int count) {
        readCodes(count);
        for (int i = 0; i < count; i++) {
            into.set(from + i, values.binaries, batch[i]);
        }
    }

    @Override
    void selectLongs(long[] into, int[] rows, int from, int end, int first, int count) {
        selectCodes(rows, from, end, first, count);
        for (int i = from; i < end; i++) {
            into[rows[i]] = values.longs[batch[i]];
        }
    }

    /**
     * Decodes some of the next integers, and keeps those that meet a condition, which is tested
     * once for each value of the dictionary.
     *
     * @param to index in {@code rows} of the first row that remains
     * @return index after the last row that remains
     */
    int selectLongs(
            LongCondition condition,
            long[] into,
            int[] rows,
            int from,
            int end,
            int to,
            int first,
            int count) {
        selectCodes(rows, from, end, first, count);
        byte[] passes = values.passes(condition);
        int kept = to;
        for (int i = from; i < end; i++) {
            int code = batch[i];
            batch[kept] = code;
            rows[kept] = rows[i];
            kept += passes[code];
        }
        for (int i = to; i < kept; i++) {
            into[rows[i]] = values.longs[batch[i]];
        }
        return kept;
    }

    @Override
    void selectBinaries(Binaries into, int[] rows, int from, int end, int first, int count) {
        selectCodes(rows, from, end, first, count);
        for (int i = from; i < end; i++) {
            into.set(rows[i], values.binaries, batch[i]);
        }
    }

    @Override
    void skip(int count) {
        codes.skip(count);
    }

    private void selectCodes(int[] rows, int from, int end, int first, int count) {
        makeRoom(end);
        codes.select(batch, rows, from, end, first, count);
        checkCodes(from, end);
    }

    private void readCodes(int count) {
        makeRoom(count);
        codes.read(batch, 0, count);
        checkCodes(0, count);
    }

    private void makeRoom(int count) {
        if (batch.length < count) {
            batch = new int[count];
        }
    }

    private void checkCodes(int from, int end) {
        int largest = 0;
        int signs = 0;
        for (int i = from; i < end; i++) {
            largest = Math.max(largest, batch[i]);
            signs |= batch[i];
        }
        requireCode(signs < 0 ? signs : largest);
    }

    private void requireCode(int largest) {
        if (largest < 0 || largest >= values.size) {
            throw new ParquetDecodingException(
                    "Code is not in the dictionary: code="
                            + Integer.toUnsignedLong(largest)
                            + ", size="
                            + values.size);
        }
    }
}
