// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Checksum of a slot: a sum of its words, each mixed with its position. Threads can add parts of
 * the sum in any order, and a word at a wrong position changes the sum. It covers sequence, epoch,
 * length and payload, so that bytes of another round of the ring are always rejected.
 *
 * <p>Because it is a sum, it can be converted to another epoch without reading the payload. It
 * detects torn and stale data, not attacks.
 */
final class SlotChecksum {

    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final long SPREAD = 0xD6E8FEB86659FD93L;

    /** Positions of the words of the header, before those of the payload. */
    private static final long SEQUENCE_POSITION = STEP;

    private static final long EPOCH_POSITION = 2 * STEP;
    private static final long LENGTH_POSITION = 3 * STEP;
    private static final long PAYLOAD_POSITION = 4 * STEP;

    private SlotChecksum() {}

    static long of(
            long sequence,
            long epoch,
            @Nullable Object base,
            long payloadOffset,
            int payloadLengthBytes) {
        long sum = ofHeader(sequence, epoch, payloadLengthBytes);
        int words = payloadLengthBytes >>> 3;
        long position = PAYLOAD_POSITION;
        // The compiler unrolls a counted loop without a branch.
        for (int i = 0; i < words; i++, position += STEP) {
            sum += mix(Memory.getLong(base, payloadOffset + 8L * i), position);
        }
        return sum;
    }

    /**
     * Copies a payload and returns the slot's checksum, computed from the words of the copy. Each
     * word is loaded once, so concurrent writes to the slot cannot make copy and checksum disagree.
     */
    static long ofCopy(
            long sequence, long epoch, @Nullable Object base, long payloadOffset, byte[] copy) {
        long sum = ofHeader(sequence, epoch, copy.length);
        int words = copy.length >>> 3;
        long position = PAYLOAD_POSITION;
        for (int i = 0; i < words; i++, position += STEP) {
            long word = Memory.getLong(base, payloadOffset + 8L * i);
            Memory.putLong(copy, Memory.BYTES + 8L * i, word);
            sum += mix(word, position);
        }
        return sum;
    }

    private static long ofHeader(long sequence, long epoch, int payloadLengthBytes) {
        return mix(sequence, SEQUENCE_POSITION)
                + mix(epoch, EPOCH_POSITION)
                + mix(payloadLengthBytes, LENGTH_POSITION);
    }

    /** Returns the checksum of the same slot in another epoch. */
    static long inEpoch(long checksum, long oldEpoch, long newEpoch) {
        return checksum - mix(oldEpoch, EPOCH_POSITION) + mix(newEpoch, EPOCH_POSITION);
    }

    private static long mix(long word, long position) {
        long mixed = (word ^ position) * SPREAD;
        return mixed ^ (mixed >>> 32);
    }
}
