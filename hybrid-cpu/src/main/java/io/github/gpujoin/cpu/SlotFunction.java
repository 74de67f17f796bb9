package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;

/**
 * Which slot of a {@link RankDirectory} a key belongs to. Either the hash is scaled to the number
 * of slots, or, where the keys lie close together, as surrogate keys of a star schema do, the slot
 * is the key's distance from the smallest one: then no two keys share a slot, and neighbouring keys
 * are neighbours in memory. Immutable.
 */
final class SlotFunction {

    /** Slots for each row of a hashed table: about one key in 16 finds its slot taken. */
    private static final int SLOTS_PER_ROW = 8;

    /** A directory of so many slots is small enough for any core's own cache. */
    private static final int CACHED_SLOTS = 1 << 20;

    private static final long MAX_SLOTS = 1L << 30;

    /** With as many slots beyond the last, slot numbers are still ints. */
    private static final long MAX_ROWS = MAX_SLOTS - 64;

    private final boolean direct;
    private final long minKey;
    private final int slots;

    private SlotFunction(boolean direct, long minKey, int slots) {
        this.direct = direct;
        this.minKey = minKey;
        this.slots = slots;
    }

    /**
     * Chooses by what the build side is like.
     *
     * @param rowBytes bytes of a row, to which the directory is held in proportion
     * @throws EngineUnavailableException for more rows than a table has, which others may divide
     */
    static SlotFunction of(long rowCount, int rowBytes, long minKey, long maxKey) {
        if (rowCount > MAX_ROWS) {
            throw new EngineUnavailableException(
                    EngineUnavailableException.Scope.NO_MEMORY,
                    "a table has at most " + MAX_ROWS + " rows: rowCount=" + rowCount,
                    null);
        }
        long hashedSlots = Math.max(1, Math.min(MAX_SLOTS, SLOTS_PER_ROW * rowCount));
        // a slot takes a quarter of a byte: a small directory may be as large as the rows
        long cachedSlots = Math.min(CACHED_SLOTS, 4 * rowCount * rowBytes);
        long distance = maxKey - minKey;
        boolean direct =
                rowCount > 0
                        && Long.compareUnsigned(distance, Math.max(hashedSlots, cachedSlots)) < 0;
        return new SlotFunction(direct, minKey, (int) (direct ? distance + 1 : hashedSlots));
    }

    /** Whether a slot belongs to one key only. */
    boolean isDirect() {
        return direct;
    }

    /** Slots are counted from 0 to this number; one past them stands for keys that have none. */
    int slots() {
        return slots;
    }

    /** Key of slot 0, where a slot is of one key. */
    long minKey() {
        return minKey;
    }

    int slot(long key) {
        return direct ? directSlot(key, minKey, slots) : hashedSlot(key, slots);
    }

    /**
     * Slots of {@code int64 keys[count]} to {@code int32 target[count]}.
     *
     * @param base array that {@code keys} is an offset in, null where it is an address
     */
    void slots(byte[] base, long keys, int count, long target) {
        int slots = this.slots;
        if (direct) {
            long minKey = this.minKey;
            for (int i = 0; i < count; i++) {
                int slot = directSlot(Memory.getLong(base, keys + 8L * i), minKey, slots);
                Memory.putInt(target + 4L * i, slot);
            }
        } else {
            for (int i = 0; i < count; i++) {
                int slot = hashedSlot(Memory.getLong(base, keys + 8L * i), slots);
                Memory.putInt(target + 4L * i, slot);
            }
        }
    }

    /** All ones where {@code 0 <= distance < slots}, else zero: a branch would be guessed wrong. */
    static long isWithin(long distance, long slots) {
        return ((distance - slots) & ~distance) >> 63;
    }

    private static int hashedSlot(long key, int slots) {
        return SlotHash.slot(SlotHash.hash(key), slots);
    }

    private static int directSlot(long key, long minKey, int slots) {
        long distance = key - minKey;
        long inside = isWithin(distance, slots);
        return (int) ((distance & inside) | (slots & ~inside));
    }
}
