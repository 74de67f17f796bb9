// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import org.jspecify.annotations.Nullable;

/**
 * Finds rows of a {@link RankedTable}, with one short loop over the batch for each step, so that
 * the cache misses of a step overlap. Not thread-safe: one lookup for each thread.
 */
final class RankedLookup implements KeyLookup {

    private final RankedTable table;
    private final long slots;
    private final long scratch;

    /**
     * @param maxKeys limit of the keys of one lookup
     * @param memory outlives this object
     */
    RankedLookup(RankedTable table, int maxKeys, PagedMemory memory) {
        this.table = table;
        this.slots = memory.allocate(4L * maxKeys);
        this.scratch = memory.allocate(8L * maxKeys);
    }

    @Override
    public int findFirst(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches) {
        table.slotFunction().slots(base, keys, count, slots);
        int found = table.findRows(slots, count, scratch, firstNumber, numbers, matches);
        if (table.slotFunction().isDirect()) {
            return found;
        }
        loadRowKeys(matches, found);
        long keyZero = keys - 8L * firstNumber;
        return table.layout().keyBytes() == Long.BYTES
                ? keepEqualLongs(base, keyZero, found, numbers, matches)
                : keepEqualInts(base, keyZero, found, numbers, matches);
    }

    /** Loads the keys of the rows at {@code matches}, widened to 64 bits. */
    private void loadRowKeys(long matches, int count) {
        long rowKeys = scratch;
        if (table.layout().keyBytes() == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(rowKeys + 8L * i, Memory.getLong(Memory.getLong(matches + 8L * i)));
            }
        } else {
            for (int i = 0; i < count; i++) {
                Memory.putLong(rowKeys + 8L * i, Memory.getInt(Memory.getLong(matches + 8L * i)));
            }
        }
    }

    /**
     * Keeps, in place, the keys that a row holds.
     *
     * <p>That is nearly always the row found, sometimes the next one, which is compared without a
     * branch, and rarely a later one.
     *
     * @param keyZero address or offset of the key with number 0, which may precede the keys
     */
    private int keepEqualLongs(
            byte @Nullable [] base, long keyZero, int count, long numbers, long matches) {
        long rowKeys = scratch;
        long rowBytes = table.layout().rowBytes();
        int found = 0;
        for (int i = 0; i < count; i++) {
            int number = Memory.getInt(numbers + 4L * i);
            long key = Memory.getLong(base, keyZero + 8L * number);
            long row = Memory.getLong(matches + 8L * i);
            row += rowBytes & differ(Memory.getLong(rowKeys + 8L * i), key);
            if (Memory.getLong(row) != key) {
                row = table.findDisplaced(key);
                if (row == 0) {
                    continue;
                }
            }
            Memory.putInt(numbers + 4L * found, number);
            Memory.putLong(matches + 8L * found, row);
            found++;
        }
        return found;
    }

    /** Does the same as {@link #keepEqualLongs} for rows with 4-byte keys. */
    private int keepEqualInts(
            byte @Nullable [] base, long keyZero, int count, long numbers, long matches) {
        long rowKeys = scratch;
        long rowBytes = table.layout().rowBytes();
        int found = 0;
        for (int i = 0; i < count; i++) {
            int number = Memory.getInt(numbers + 4L * i);
            long key = Memory.getLong(base, keyZero + 8L * number);
            long row = Memory.getLong(matches + 8L * i);
            row += rowBytes & differ(Memory.getLong(rowKeys + 8L * i), key);
            if (Memory.getInt(row) != key) {
                row = table.findDisplaced(key);
                if (row == 0) {
                    continue;
                }
            }
            Memory.putInt(numbers + 4L * found, number);
            Memory.putLong(matches + 8L * found, row);
            found++;
        }
        return found;
    }

    /** Returns all ones if the keys differ, else 0. */
    private static long differ(long a, long b) {
        long bits = a ^ b;
        return (bits | -bits) >> 63;
    }
}
