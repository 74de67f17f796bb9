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

    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final long SPREAD = 0xD6E8FEB86659FD93L;

    private ChunkChecksum() {}

    /** Checksum of all words of the chunk but the checksum's own. */
    public static long of(Object base, long offset, int lengthBytes) {
        long sum = 0;
        long position = STEP;
        long end = offset + lengthBytes;
        long skipped = offset + ChunkDescriptor.CHECKSUM_OFFSET;
        for (long at = offset; at < end; at += 8, position += STEP) {
            long word = at == skipped ? 0 : Memory.getLong(base, at);
            sum += mix(word, position);
        }
        return sum;
    }

    /** Contribution of one word; {@code position} is the word's number, from 1, times the step. */
    static long mix(long word, long position) {
        long mixed = (word ^ position) * SPREAD;
        return mixed ^ (mixed >>> 32);
    }
}
