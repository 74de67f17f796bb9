package io.github.gpujoin.core.ring;

import io.github.gpujoin.core.region.Memory;

/** Payloads of the stress tests: all words of one are the same, and no two are. */
final class StressPayload {

    private static final int WORDS = 8;

    private StressPayload() {}

    static byte[] of(long word) {
        byte[] payload = new byte[8 * WORDS];
        for (int i = 0; i < WORDS; i++) {
            Memory.putLong(payload, Memory.BYTES + 8L * i, word);
        }
        return payload;
    }

    /** 0: not there; 1: there, as it was written; -1: torn; -2: other words. */
    static int judge(byte[] ring, RingReader reader, long word) {
        SlotState state = reader.poll();
        if (state != SlotState.READY) {
            return state == SlotState.EMPTY ? 0 : -1;
        }
        long payload = reader.payloadOffset();
        for (int i = 0; i < WORDS; i++) {
            if (Memory.getLong(ring, payload + 8L * i) != word) {
                return -2;
            }
        }
        return 1;
    }
}
