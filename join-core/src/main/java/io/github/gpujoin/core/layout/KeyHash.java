package io.github.gpujoin.core.layout;

/**
 * The one place where bits of a key's hash are cut, so that no two users of the hash share bits.
 *
 * <pre>
 *   63                32 31                                0
 *  +--------------------+----------------------------------+
 *  | table: slot        | partition (scaled to the number) |
 *  +--------------------+----------------------------------+
 *                        tag: 4 bits from 32..47 pick a tag
 * </pre>
 *
 * <p>Keys that share a radix partition therefore still spread over all slots of a table. {@link
 * #VERSION} stands in snapshots: a change of the hash moves keys between partitions.
 */
public final class KeyHash {

    /** Raise when {@link #hash} or {@link #partition} changes. */
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

    /** Radix partition from 0 to {@code partitions - 1}; any number of partitions. */
    public static int partition(long hash, int partitions) {
        return (int) (((hash & 0xFFFFFFFFL) * partitions) >>> 32);
    }

    /** Slot from 0 to {@code slots - 1} of a table with up to 2^31 slots. */
    public static int slot(long hash, int slots) {
        return (int) (((hash >>> 32) * slots) >>> 32);
    }
}
