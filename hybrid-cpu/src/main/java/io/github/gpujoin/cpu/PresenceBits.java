package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/** A bit for each slot: bit {@code s % 64} of the little-endian word {@code s / 64} is slot s. */
final class PresenceBits implements AutoCloseable {

    private static final int WORD_SHIFT = 6;

    private final Region region;

    /** Bits that {@link #clearing} sets to 0. */
    PresenceBits(int slots, Allocator allocator) {
        this.region = allocator.allocate(8L * ((slots + 63L) >>> WORD_SHIFT));
    }

    /** Bits that are all 0. */
    static PresenceBits cleared(int slots, Allocator allocator) {
        PresenceBits bits = new PresenceBits(slots, allocator);
        bits.clearing().finish();
        return bits;
    }

    /** Sets all bits to 0, before the first one is set. */
    Work clearing() {
        return Work.zero(region);
    }

    long address() {
        return region.address();
    }

    long lengthBytes() {
        return region.lengthBytes();
    }

    /** 1 where the slot's bit is set, else 0. */
    static long get(long address, long slot) {
        return Memory.getLong(address + 8 * (slot >>> WORD_SHIFT)) >>> slot & 1;
    }

    /** Sets the slot's bit; returns what it was. */
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
