// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;

/**
 * Hashes keys and divides the bits of the hash among its users, so that no two users share bits.
 *
 * <pre>
 *   63                32 31                                0
 *  +--------------------+----------------------------------+
 *  | caches: slot       | partition (scaled to the number) |
 *  +--------------------+----------------------------------+
 * </pre>
 *
 * <p>The hash can be inverted, so an attacker can choose keys that collide; tables therefore place
 * keys by {@link SlotHash}. Snapshots contain {@link #VERSION}, because a change of the hash moves
 * keys between partitions.
 */
public final class KeyHash {

    /**
     * Increase it when {@link #hash(long)}, {@link #hash(byte[], int)} or {@link #partition}
     * changes.
     */
    public static final int VERSION = 1;

    private KeyHash() {}

    /** Mixes a key so that every bit of the result depends on every bit of the key. */
    public static long hash(long key) {
        long h = key;
        h ^= h >>> 32;
        h *= 0xD6E8FEB86659FD93L;
        h ^= h >>> 32;
        h *= 0xD6E8FEB86659FD93L;
        h ^= h >>> 32;
        return h;
    }

    /**
     * Hashes the first {@code length} bytes of an array: mixes their little-endian words one by
     * one.
     */
    public static long hash(byte[] bytes, int length) {
        long h = length;
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            h = hash(h ^ Memory.getLong(bytes, Memory.BYTES + at));
        }
        long last = 0;
        for (int i = length - 1; i >= at; i--) {
            last = last << Byte.SIZE | bytes[i] & 0xFF;
        }
        return hash(h ^ last);
    }

    /** Returns a radix partition from 0 to {@code partitions - 1}, for any number of partitions. */
    public static int partition(long hash, int partitions) {
        return (int) (((hash & 0xFFFFFFFFL) * partitions) >>> 32);
    }

    /** Returns a slot from 0 to {@code slots - 1} of a table with up to 2^31 slots. */
    public static int slot(long hash, int slots) {
        return (int) (((hash >>> 32) * slots) >>> 32);
    }
}
