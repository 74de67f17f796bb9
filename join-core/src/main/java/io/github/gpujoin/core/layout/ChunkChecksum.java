// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.WordSum;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checksum of a chunk: the {@link WordSum} of its words from position 1, with 0 in place of the
 * checksum itself.
 */
public final class ChunkChecksum {

    /** Marks a chunk whose checksum is not computed yet. */
    static final long NONE = 0;

    /** Longest wait for the bytes of a slot, which a network writes within microseconds. */
    private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Number of words before the checksum, which is at the next position. */
    private static final int WORDS_BEFORE = ChunkDescriptor.CHECKSUM_OFFSET / 8;

    private static final int OWN_POSITION = WORDS_BEFORE + 1;

    private ChunkChecksum() {}

    /**
     * Returns the checksum of all words of a chunk, with 0 in place of the checksum field.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     * @param lengthBytes length of the whole chunk: at least a header, a multiple of 8
     */
    public static long of(@Nullable Object base, long offset, int lengthBytes) {
        // Two sums, which skip the checksum field: another thread may be writing it.
        return WordSum.ofWord(0, OWN_POSITION)
                + WordSum.of(base, offset, WORDS_BEFORE, 1)
                + WordSum.of(
                        base,
                        offset + 8L * OWN_POSITION,
                        (lengthBytes >>> 3) - OWN_POSITION,
                        OWN_POSITION + 1);
    }

    /**
     * Checks the checksum of a chunk.
     *
     * @throws ChunkFormatException if it is wrong
     */
    public static void require(@Nullable Object base, long offset, int lengthBytes) {
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

    /**
     * Returns the {@link WordSum} of all words of a chunk, the checksum among them, which must be
     * correct. Reads the checksum alone.
     */
    public static long wordSum(@Nullable Object base, long offset) {
        long checksum = Memory.getLong(base, offset + ChunkDescriptor.CHECKSUM_OFFSET);
        return checksum - WordSum.ofWord(0, OWN_POSITION) + WordSum.ofWord(checksum, OWN_POSITION);
    }
}
