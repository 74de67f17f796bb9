// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

/** One bit for each integer from the smallest key to the largest one. Exact. */
final class BitmapKeyFilter extends KeyFilter {

    private static final long serialVersionUID = 1L;

    private static final int WORD_SHIFT = 6;

    /** Key of the first bit, a multiple of 64. */
    private final long base;

    private final long[] words;

    /**
     * @param words one bit for each integer from {@code min} without its last 6 bits on
     */
    BitmapKeyFilter(long min, long max, long[] words) {
        super(min, max);
        this.base = min & -1L << WORD_SHIFT;
        this.words = words;
    }

    @Override
    public boolean mayAccept(long key) {
        long offset = key - base;
        long word = offset >>> WORD_SHIFT;
        return word < words.length && (words[(int) word] >>> offset & 1) != 0;
    }

    @Override
    public boolean mayAcceptAny(long from, long to) {
        long first = Math.max(from, min());
        long last = Math.min(to, max());
        if (first > last) {
            return false;
        }
        int firstWord = (int) (first - base >>> WORD_SHIFT);
        int lastWord = (int) (last - base >>> WORD_SHIFT);
        long mask = -1L << first;
        for (int word = firstWord; word < lastWord; word++) {
            if ((words[word] & mask) != 0) {
                return true;
            }
            mask = -1L;
        }
        return (words[lastWord] & mask & -1L >>> ~last) != 0;
    }

    @Override
    public int select(long[] keys, int[] rows, int from, int end, int to) {
        long[] words = this.words;
        long base = this.base;
        int kept = to;
        for (int i = from; i < end; i++) {
            int row = rows[i];
            long offset = keys[row] - base;
            long word = offset >>> WORD_SHIFT;
            rows[kept] = row;
            if (word < words.length) {
                kept += (int) (words[(int) word] >>> offset & 1);
            }
        }
        return kept;
    }

    @Override
    public long lengthBytes() {
        return (long) Long.BYTES * words.length;
    }
}
