// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Maps a key to a slot of a {@link RankDirectory}. Immutable.
 *
 * <p>Dense keys, such as surrogate keys of a star schema, map to their distance from the smallest
 * key: no two keys share a slot, and adjacent keys are adjacent in memory. Other keys map to their
 * hash, scaled to the number of slots.
 */
final class SlotFunction {

    /** Slots for each row of a hashed table: about one key in 16 finds its slot occupied. */
    private static final int SLOTS_PER_ROW = 8;

    /** Largest directory that fits the private cache of any core. */
    private static final int CACHED_SLOTS = 1 << 20;

    private static final long MAX_SLOTS = 1L << 30;

    /** Leaves room beyond the last slot for slot numbers to stay ints. */
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
     * Chooses the mapping by the density of the keys.
     *
     * @param rowBytes bytes of a row, which bound the relative size of the directory
     * @throws EngineUnavailableException if there are more rows than a table can hold
     */
    static SlotFunction of(long rowCount, int rowBytes, long minKey, long maxKey) {
        if (rowCount > MAX_ROWS) {
            throw new EngineUnavailableException(
                    EngineUnavailableException.Scope.NO_MEMORY,
                    "Too many rows for one table: rowCount=" + rowCount + ", max=" + MAX_ROWS,
                    null);
        }
        long hashedSlots = Math.max(1, Math.min(MAX_SLOTS, SLOTS_PER_ROW * rowCount));
        // A slot takes a quarter of a byte: a small directory may be as large as the rows.
        long cachedSlots = Math.min(CACHED_SLOTS, 4 * rowCount * rowBytes);
        long distance = maxKey - minKey;
        boolean direct =
                rowCount > 0
                        && Long.compareUnsigned(distance, Math.max(hashedSlots, cachedSlots)) < 0;
        return new SlotFunction(direct, minKey, (int) (direct ? distance + 1 : hashedSlots));
    }

    /** Returns whether each slot belongs to one key. */
    boolean isDirect() {
        return direct;
    }

    /** Returns the number of slots. The slot of this number stands for keys out of range. */
    int slots() {
        return slots;
    }

    /** Returns the key of slot 0 of a direct mapping. */
    long minKey() {
        return minKey;
    }

    int slot(long key) {
        return direct ? directSlot(key, minKey, slots) : hashedSlot(key, slots);
    }

    /**
     * Writes the slots of {@code int64 keys[count]} to {@code int32 target[count]}.
     *
     * @param base array that {@code keys} is an offset in; null if {@code keys} is an address
     */
    void slots(byte @Nullable [] base, long keys, int count, long target) {
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

    /**
     * Returns all ones if {@code 0 <= distance < slots}, else 0, without a branch that would be
     * mispredicted.
     */
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
