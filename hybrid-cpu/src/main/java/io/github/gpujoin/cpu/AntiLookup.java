// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import org.jspecify.annotations.Nullable;

/**
 * Finds the keys of an anti join: those without a build row. Writes no matches. Not thread-safe.
 */
final class AntiLookup implements KeyLookup {

    private final KeyLookup lookup;
    private final long foundNumbers;
    private final long isLeft;

    /**
     * @param maxKeys limit of the keys of one lookup
     * @param memory outlives the lookup
     */
    AntiLookup(KeyLookup lookup, int maxKeys, PagedMemory memory) {
        this.lookup = lookup;
        this.foundNumbers = memory.allocate(4L * maxKeys);
        this.isLeft = memory.allocate(maxKeys);
    }

    /**
     * @param matches scratch memory; its content is undefined afterwards
     */
    @Override
    public int findFirst(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches) {
        int found = lookup.findFirst(base, keys, count, 0, foundNumbers, matches);
        Memory.fill(null, isLeft, count, (byte) 1);
        for (int i = 0; i < found; i++) {
            Memory.putByte(null, isLeft + Memory.getInt(foundNumbers + 4L * i), (byte) 0);
        }
        // Branch-free: no jump depends on the data.
        long target = numbers;
        for (int i = 0; i < count; i++) {
            Memory.putInt(target, firstNumber + i);
            target += 4L * Memory.getByte(null, isLeft + i);
        }
        return (int) (target - numbers) / Integer.BYTES;
    }
}
