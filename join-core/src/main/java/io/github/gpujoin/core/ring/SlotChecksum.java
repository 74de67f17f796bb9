package io.github.gpujoin.core.ring;

import io.github.gpujoin.core.region.Memory;

/**
 * Checksum of a slot: a sum over its words, each mixed with its position, so that any number of
 * threads can share the work and a word in the wrong place shows. It covers the sequence, the epoch
 * and the length with the payload: bytes of another round of the ring never pass.
 *
 * <p>Being a sum, it can be moved to another epoch without a look at the payload. It finds torn and
 * stale data, not an attacker.
 */
final class SlotChecksum {

    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final long SPREAD = 0xD6E8FEB86659FD93L;

    /** Positions of the header's words; those of the payload follow. */
    private static final long SEQUENCE_POSITION = STEP;

    private static final long EPOCH_POSITION = 2 * STEP;
    private static final long LENGTH_POSITION = 3 * STEP;
    private static final long PAYLOAD_POSITION = 4 * STEP;

    private SlotChecksum() {}

    static long of(
            long sequence, long epoch, Object base, long payloadOffset, int payloadLengthBytes) {
        long sum = ofHeader(sequence, epoch, payloadLengthBytes);
        int words = payloadLengthBytes >>> 3;
        long position = PAYLOAD_POSITION;
        // a counted loop without a branch: the compiler unrolls it
        for (int i = 0; i < words; i++, position += STEP) {
            sum += mix(Memory.getLong(base, payloadOffset + 8L * i), position);
        }
        return sum;
    }

    /**
     * Copies a payload out and gives the slot's checksum, of the words that the copy holds: each is
     * loaded once, so what else is written to the slot meanwhile cannot come between.
     */
    static long ofCopy(long sequence, long epoch, Object base, long payloadOffset, byte[] copy) {
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

    /** The checksum that the same slot has in another epoch. */
    static long inEpoch(long checksum, long oldEpoch, long newEpoch) {
        return checksum - mix(oldEpoch, EPOCH_POSITION) + mix(newEpoch, EPOCH_POSITION);
    }

    private static long mix(long word, long position) {
        long mixed = (word ^ position) * SPREAD;
        return mixed ^ (mixed >>> 32);
    }
}
