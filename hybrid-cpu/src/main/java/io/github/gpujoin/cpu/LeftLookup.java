// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import org.jspecify.annotations.Nullable;

/**
 * Finds the keys of a left join: all of them. A key without a row matches the row of zeros, so that
 * readers of the payload need no test. Not thread-safe.
 */
final class LeftLookup implements KeyLookup {

    private final KeyLookup lookup;
    private final long zeroRow;
    private final long foundNumbers;
    private final long foundRows;

    /**
     * @param zeroRow address of the row of zeros
     * @param maxKeys limit of the keys of one lookup
     * @param memory outlives the lookup
     */
    LeftLookup(KeyLookup lookup, long zeroRow, int maxKeys, PagedMemory memory) {
        this.lookup = lookup;
        this.zeroRow = zeroRow;
        this.foundNumbers = memory.allocate(4L * maxKeys);
        this.foundRows = memory.allocate(8L * maxKeys);
    }

    @Override
    public int findFirst(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches) {
        int found = lookup.findFirst(base, keys, count, 0, foundNumbers, foundRows);
        for (int i = 0; i < count; i++) {
            Memory.putInt(numbers + 4L * i, firstNumber + i);
            Memory.putLong(matches + 8L * i, zeroRow);
        }
        for (int i = 0; i < found; i++) {
            long at = matches + 8L * Memory.getInt(foundNumbers + 4L * i);
            Memory.putLong(at, Memory.getLong(foundRows + 8L * i));
        }
        return count;
    }
}
