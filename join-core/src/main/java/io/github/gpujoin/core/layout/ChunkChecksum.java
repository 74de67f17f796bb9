// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checksum of a chunk: a sum of 64-bit words, each mixed with its position. Threads can add parts
 * of the sum in any order, and a word at a wrong position changes the sum.
 *
 * <p>It detects torn and stale data, not attacks. Source: the per-batch checksum of Thostrup et
 * al., "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.2.
 */
public final class ChunkChecksum {

    /** Marks a chunk whose checksum is not computed yet. */
    static final long NONE = 0;

    /** Longest wait for the bytes of a slot, which a network writes within microseconds. */
    private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final long SPREAD = 0xD6E8FEB86659FD93L;

    private ChunkChecksum() {}

    /**
     * Returns the checksum of all words of a chunk, with 0 in place of the checksum field.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     * @param lengthBytes length of the whole chunk: at least a header, a multiple of 8
     */
    public static long of(Object base, long offset, int lengthBytes) {
        // The compiler unrolls two counted loops without a branch. They skip the checksum field,
        // which another thread may be writing.
        int own = ChunkDescriptor.CHECKSUM_OFFSET / 8;
        return mix(0, (own + 1) * STEP)
                + sumOf(base, offset, 0, own)
                + sumOf(base, offset, own + 1, lengthBytes >>> 3);
    }

    /**
     * Checks the checksum of a chunk.
     *
     * @throws ChunkFormatException if it is wrong
     */
    static void require(@Nullable Object base, long offset, int lengthBytes) {
        long expected = expected(base, offset);
        long actual = of(base, offset, lengthBytes);
        ChunkHeader.require(
                expected == actual, "Chunk checksum does not match its bytes", "checksum", actual);
    }

    /**
     * Like {@link #require}, for native memory in which bytes may still arrive: waits at most 100
     * ms.
     */
    static void requireArrived(long address, int lengthBytes) {
        long startNs = System.nanoTime();
        while (expected(null, address) != of(null, address, lengthBytes)) {
            if (System.nanoTime() - startNs > MAX_WAIT_NS) {
                require(null, address, lengthBytes);
            }
            Thread.onSpinWait();
            VarHandle.acquireFence(); // the next iteration reads memory anew
        }
    }

    private static long expected(@Nullable Object base, long offset) {
        return Memory.getLong(base, offset + ChunkDescriptor.CHECKSUM_OFFSET);
    }

    private static long sumOf(Object base, long offset, int fromWord, int toWord) {
        long sum = 0;
        long position = (fromWord + 1) * STEP;
        for (int i = fromWord; i < toWord; i++, position += STEP) {
            sum += mix(Memory.getLong(base, offset + 8L * i), position);
        }
        return sum;
    }

    /**
     * Returns the contribution of one word.
     *
     * @param position number of the word, from 1, times {@code STEP}
     */
    static long mix(long word, long position) {
        long mixed = (word ^ position) * SPREAD;
        return mixed ^ (mixed >>> 32);
    }
}
