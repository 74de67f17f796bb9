// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import io.github.gpujoin.core.layout.KeyHash;

/**
 * A Bloom filter whose blocks are words: a key sets up to four bits of one word, so that a test
 * reads one word (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, section
 * 3). With {@value #BITS_PER_KEY} bits a key, about one of 100 other keys passes.
 *
 * <pre>
 *   hash  | number of the word, from the highest bit |  ...  | 4 numbers of bits, 6 bits each |
 * </pre>
 */
final class BloomKeyFilter extends KeyFilter {

    private static final long serialVersionUID = 1L;

    /** Bits for a key, at least, unless the size is limited. */
    static final int BITS_PER_KEY = 16;

    private final long[] words;
    private final int wordShift;

    /**
     * @param words a power of 2 of them, at least 2
     */
    BloomKeyFilter(long min, long max, long[] words) {
        super(min, max);
        this.words = words;
        this.wordShift = wordShift(words.length);
    }

    private static int wordShift(int words) {
        return Long.SIZE - Integer.numberOfTrailingZeros(words);
    }

    /** Adds a key to the words of a filter. */
    static void add(long[] words, long key) {
        long hash = KeyHash.hash(key);
        words[(int) (hash >>> wordShift(words.length))] |= bits(hash);
    }

    /** Returns the words of a filter of half the size, with the same keys. */
    static long[] halved(long[] words) {
        long[] half = new long[words.length / 2];
        for (int i = 0; i < half.length; i++) {
            half[i] = words[2 * i] | words[2 * i + 1];
        }
        return half;
    }

    private static long bits(long hash) {
        return 1L << hash | 1L << (hash >>> 6) | 1L << (hash >>> 12) | 1L << (hash >>> 18);
    }

    @Override
    public boolean mayAccept(long key) {
        long hash = KeyHash.hash(key);
        long bits = bits(hash);
        return (words[(int) (hash >>> wordShift)] & bits) == bits;
    }

    /** {@inheritDoc} Only the smallest and the largest key bound a range. */
    @Override
    public boolean mayAcceptAny(long from, long to) {
        return from == to ? mayAccept(from) : from <= max() && to >= min();
    }

    @Override
    public int select(long[] keys, int[] rows, int from, int end, int to) {
        int kept = to;
        for (int i = from; i < end; i++) {
            int row = rows[i];
            long hash = KeyHash.hash(keys[row]);
            long bits = bits(hash);
            rows[kept] = row;
            kept += (words[(int) (hash >>> wordShift)] & bits) == bits ? 1 : 0;
        }
        return kept;
    }

    @Override
    public long lengthBytes() {
        return (long) Long.BYTES * words.length;
    }
}
