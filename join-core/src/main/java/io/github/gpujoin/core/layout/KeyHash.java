package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;

/**
 * The one place where bits of a key's hash are cut, so that no two users of the hash share bits.
 *
 * <pre>
 *   63                32 31                                0
 *  +--------------------+----------------------------------+
 *  | caches: slot       | partition (scaled to the number) |
 *  +--------------------+----------------------------------+
 * </pre>
 *
 * <p>Anybody can invert it, so tables place keys by {@link SlotHash}. {@link #VERSION} stands in
 * snapshots: a change of the hash moves keys between partitions.
 */
public final class KeyHash {

    /** Raise when {@link #hash(long)}, {@link #hash(byte[], int)} or {@link #partition} changes. */
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

    /** A hash of the first bytes of an array: their words, little-endian, mixed one by one. */
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

    /** Radix partition from 0 to {@code partitions - 1}; any number of partitions. */
    public static int partition(long hash, int partitions) {
        return (int) (((hash & 0xFFFFFFFFL) * partitions) >>> 32);
    }

    /** Slot from 0 to {@code slots - 1} of a table with up to 2^31 slots. */
    public static int slot(long hash, int slots) {
        return (int) (((hash >>> 32) * slots) >>> 32);
    }
}
