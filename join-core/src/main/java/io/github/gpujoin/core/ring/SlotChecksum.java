// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import io.github.gpujoin.core.region.WordSum;
import org.jspecify.annotations.Nullable;

/**
 * Checksum of a slot: the {@link WordSum} of sequence, epoch and length, and of the payload, whose
 * words have the positions from 1. It covers the header, so that bytes of another round of the ring
 * are always rejected.
 *
 * <p>Because it is a sum, it can be converted to another epoch without reading the payload.
 */
final class SlotChecksum {

    private static final int SEQUENCE_POSITION = -1;
    private static final int EPOCH_POSITION = -2;
    private static final int LENGTH_POSITION = -3;

    private SlotChecksum() {}

    static long of(
            long sequence,
            long epoch,
            @Nullable Object base,
            long payloadOffset,
            int payloadLengthBytes) {
        long payloadSum = WordSum.of(base, payloadOffset, payloadLengthBytes >>> 3, 1);
        return of(sequence, epoch, payloadLengthBytes, payloadSum);
    }

    /** Copies a payload and returns the slot's checksum, computed from the words of the copy. */
    static long ofCopy(
            long sequence, long epoch, @Nullable Object base, long payloadOffset, byte[] copy) {
        long payloadSum = WordSum.ofCopy(base, payloadOffset, copy);
        return of(sequence, epoch, copy.length, payloadSum);
    }

    /**
     * @param payloadSum {@link WordSum} of the payload from position 1
     */
    static long of(long sequence, long epoch, int payloadLengthBytes, long payloadSum) {
        return payloadSum
                + WordSum.ofWord(sequence, SEQUENCE_POSITION)
                + WordSum.ofWord(epoch, EPOCH_POSITION)
                + WordSum.ofWord(payloadLengthBytes, LENGTH_POSITION);
    }

    /** Returns the checksum of the same slot in another epoch. */
    static long inEpoch(long checksum, long oldEpoch, long newEpoch) {
        return checksum
                - WordSum.ofWord(oldEpoch, EPOCH_POSITION)
                + WordSum.ofWord(newEpoch, EPOCH_POSITION);
    }
}
