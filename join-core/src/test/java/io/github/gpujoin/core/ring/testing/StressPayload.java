// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring.testing;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingReader;
import io.github.gpujoin.core.ring.SlotState;
import java.util.Arrays;

/** Payloads of the stress tests: all words of a payload are equal, and payloads differ. */
public final class StressPayload {

    private static final int WORDS = 8;

    private StressPayload() {}

    public static byte[] of(long word) {
        byte[] payload = new byte[8 * WORDS];
        for (int i = 0; i < WORDS; i++) {
            Memory.putLong(payload, Memory.BYTES + 8L * i, word);
        }
        return payload;
    }

    /** 0: absent; 1: complete and as written; -1: torn; -2: other words. */
    public static int judge(RingReader reader, long word) {
        SlotState state = reader.peek();
        if (state != SlotState.READY) {
            return state == SlotState.EMPTY ? 0 : -1;
        }
        byte[] payload = new byte[reader.lengthBytes()];
        if (!reader.copyTo(payload)) {
            return -1;
        }
        return Arrays.equals(payload, of(word)) ? 1 : -2;
    }
}
