package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;

/**
 * Checksum of a chunk: a sum over 64-bit words, each mixed with its position, so that any number of
 * threads can share the work in any order and a word in the wrong place shows.
 *
 * <p>It finds torn and stale data, not an attacker. The method follows the per-batch checksum of
 * Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.2.
 */
public final class ChunkChecksum {

    /** Stands where no checksum was computed yet. */
    static final long NONE = 0;

    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final long SPREAD = 0xD6E8FEB86659FD93L;

    private ChunkChecksum() {}

    /**
     * Checksum of all words of the chunk, its own taken for 0.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     * @param lengthBytes of the whole chunk: at least a header, and whole words
     */
    public static long of(Object base, long offset, int lengthBytes) {
        // Two counted loops without a branch, which the compiler unrolls. The word between them is
        // not read: another thread may be writing the same checksum there.
        int own = ChunkDescriptor.CHECKSUM_OFFSET / 8;
        return mix(0, (own + 1) * STEP)
                + sumOf(base, offset, 0, own)
                + sumOf(base, offset, own + 1, lengthBytes >>> 3);
    }

    private static long sumOf(Object base, long offset, int fromWord, int toWord) {
        long sum = 0;
        long position = (fromWord + 1) * STEP;
        for (int i = fromWord; i < toWord; i++, position += STEP) {
            sum += mix(Memory.getLong(base, offset + 8L * i), position);
        }
        return sum;
    }

    /** Contribution of one word; {@code position} is the word's number, from 1, times the step. */
    static long mix(long word, long position) {
        long mixed = (word ^ position) * SPREAD;
        return mixed ^ (mixed >>> 32);
    }
}
