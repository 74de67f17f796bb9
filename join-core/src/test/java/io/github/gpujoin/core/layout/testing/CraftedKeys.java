// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout.testing;

import io.github.gpujoin.core.layout.KeyHash;
import java.util.stream.LongStream;

/** Keys that an attacker who knows {@link KeyHash} would choose to slow tables down. */
public final class CraftedKeys {

    private static final long FACTOR = 0xD6E8FEB86659FD93L;

    private CraftedKeys() {}

    /** Returns different keys whose {@link KeyHash#hash} has the same upper half. */
    public static long[] ofOneHashHalf(int count) {
        return LongStream.range(0, count).map(low -> keyOf(0x5EED_0000_0000_0000L | low)).toArray();
    }

    /** Inverts the hash, each step of which is a bijection. */
    private static long keyOf(long hash) {
        long key = hash ^ hash >>> 32;
        for (int round = 0; round < 2; round++) {
            key *= inverse(FACTOR);
            key ^= key >>> 32;
        }
        return key;
    }

    /** Inverts an odd number modulo 2^64 by Newton's method. */
    private static long inverse(long odd) {
        long inverse = odd;
        for (int bits = 3; bits < Long.SIZE; bits *= 2) {
            inverse *= 2 - odd * inverse;
        }
        return inverse;
    }
}
