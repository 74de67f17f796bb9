// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridEncoder;

/**
 * The dictionary codes of a column's rows, and the pages with them. Several columns may have the
 * same codes, and then the same pages. Not thread-safe.
 */
final class RowCodes {

    /** Runs of fewer rows on average are not shorter than packed codes. */
    private static final int MIN_RUN_ROWS = 8;

    private static final HeapByteBufferAllocator HEAP = new HeapByteBufferAllocator();

    private final char[] codes;
    private int count;

    private final List<BytesInput> pages = new ArrayList<>();

    /**
     * @param capacity number of codes, at most
     */
    RowCodes(int capacity) {
        this.codes = new char[capacity];
    }

    void add(int code) {
        codes[count++] = (char) code;
    }

    int get(int number) {
        return codes[number];
    }

    /**
     * Returns other codes in place of these.
     *
     * @param targets by code
     */
    RowCodes mapped(char[] targets) {
        RowCodes mapped = new RowCodes(count);
        for (int i = 0; i < count; i++) {
            mapped.add(targets[codes[i]]);
        }
        return mapped;
    }

    /**
     * Returns a page, the same for each column.
     *
     * @param number of the page; pages are made in their order
     * @param levels definition levels with their length, or empty
     * @param bits of a code
     * @param from number of the first code
     * @param end number after the last code
     */
    BytesInput page(int number, byte[] levels, int bits, int from, int end) throws IOException {
        if (number == pages.size()) {
            pages.add(encode(levels, bits, from, end));
        }
        return pages.get(number);
    }

    private BytesInput encode(byte[] levels, int bits, int from, int end) throws IOException {
        return end - from < MIN_RUN_ROWS * runs(from, end)
                ? pack(levels, bits, from, end)
                : BytesInput.copy(
                        BytesInput.concat(
                                BytesInput.from(levels),
                                BytesInput.from(new byte[] {(byte) bits}),
                                runs(bits, from, end)));
    }

    private int runs(int from, int end) {
        int runs = 1;
        for (int i = from + 1; i < end; i++) {
            runs += codes[i] == codes[i - 1] ? 0 : 1;
        }
        return runs;
    }

    private BytesInput runs(int bits, int from, int end) throws IOException {
        try (RunLengthBitPackingHybridEncoder runs =
                new RunLengthBitPackingHybridEncoder(bits, 1 << 10, 1 << 20, HEAP)) {
            for (int i = from; i < end; i++) {
                runs.writeInt(codes[i]);
            }
            return BytesInput.copy(runs.toBytes());
        }
    }

    /** Returns a page of one run of packed codes, whose number is rounded up to 8. */
    private BytesInput pack(byte[] levels, int bits, int from, int end) throws IOException {
        int groups = end - from + 7 >>> 3;
        byte[] header = BytesInput.fromUnsignedVarInt(groups << 1 | 1).toByteArray();
        int start = levels.length + 1 + header.length;
        byte[] page = new byte[start + groups * bits + PageBytes.READABLE_BEHIND];
        System.arraycopy(levels, 0, page, 0, levels.length);
        page[levels.length] = (byte) bits;
        System.arraycopy(header, 0, page, levels.length + 1, header.length);
        long at = Memory.BYTES + start;
        long word = 0;
        int used = 0;
        for (int i = from; i < end; i++) {
            word |= (long) codes[i] << used;
            used += bits;
            if (used >= Integer.SIZE) {
                Memory.putInt(page, at, (int) word);
                at += Integer.BYTES;
                word >>>= Integer.SIZE;
                used -= Integer.SIZE;
            }
        }
        Memory.putInt(page, at, (int) word);
        return BytesInput.from(page, 0, start + groups * bits);
    }
}
