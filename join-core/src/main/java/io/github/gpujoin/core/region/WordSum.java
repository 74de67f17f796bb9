// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import org.jspecify.annotations.Nullable;

/**
 * A sum of 64-bit words, each mixed with its position: the checksum of chunks and of slots, which
 * number the words of a payload alike. The sum of a slot is therefore known from that of the chunk
 * in it, without another pass.
 *
 * <p>Threads can add parts of the sum in any order, and a word at a wrong position changes the sum.
 * It detects torn and stale data, not attacks. Source: the per-batch checksum of Thostrup et al.,
 * "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.2.
 */
public final class WordSum {

    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final long SPREAD = 0xD6E8FEB86659FD93L;

    private WordSum() {}

    /** Returns the sum of {@code count} words at positions from {@code firstPosition}. */
    public static long of(@Nullable Object base, long offset, int count, int firstPosition) {
        long sum = 0;
        long step = firstPosition * STEP;
        // The compiler unrolls a counted loop without a branch.
        for (int i = 0; i < count; i++, step += STEP) {
            sum += mix(Memory.getLong(base, offset + 8L * i), step);
        }
        return sum;
    }

    /**
     * Copies words and returns the sum of the copy, at positions from 1. Each word is loaded once,
     * so concurrent writes to the source cannot make copy and sum disagree.
     */
    public static long ofCopy(@Nullable Object base, long offset, byte[] copy) {
        long sum = 0;
        int words = copy.length >>> 3;
        long step = STEP;
        for (int i = 0; i < words; i++, step += STEP) {
            long word = Memory.getLong(base, offset + 8L * i);
            Memory.putLong(copy, Memory.BYTES + 8L * i, word);
            sum += mix(word, step);
        }
        return sum;
    }

    /** Returns the contribution of one word. */
    public static long ofWord(long word, int position) {
        return mix(word, position * STEP);
    }

    private static long mix(long word, long step) {
        long mixed = (word ^ step) * SPREAD;
        return mixed ^ (mixed >>> 32);
    }
}
