// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/** A bit for each slot: bit {@code s % 64} of the little-endian word {@code s / 64} is slot s. */
final class PresenceBits implements AutoCloseable {

    private static final int WORD_SHIFT = 6;

    private final Region region;

    /** Allocates bits, which are undefined until {@link #clearing} is done. */
    PresenceBits(int slots, Allocator allocator) {
        this.region = allocator.allocate(8L * ((slots + 63L) >>> WORD_SHIFT));
    }

    /** Allocates bits that are all 0. */
    static PresenceBits cleared(int slots, Allocator allocator) {
        PresenceBits bits = new PresenceBits(slots, allocator);
        bits.clearing().finish();
        return bits;
    }

    /** Sets all bits to 0. */
    Work clearing() {
        return Work.zero(region);
    }

    long address() {
        return region.address();
    }

    long lengthBytes() {
        return region.lengthBytes();
    }

    /** Returns the bit of a slot, 0 or 1. */
    static long get(long address, long slot) {
        return Memory.getLong(address + 8 * (slot >>> WORD_SHIFT)) >>> slot & 1;
    }

    /** Sets the bit of a slot and returns its previous value. */
    static long set(long address, long slot) {
        long at = address + 8 * (slot >>> WORD_SHIFT);
        long word = Memory.getLong(at);
        Memory.putLong(at, word | 1L << slot);
        return word >>> slot & 1;
    }

    static void clear(long address, long slot) {
        long at = address + 8 * (slot >>> WORD_SHIFT);
        Memory.putLong(at, Memory.getLong(at) & ~(1L << slot));
    }

    @Override
    public void close() {
        region.close();
    }
}
