// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Drops matches of null fact keys, whatever value the key column holds for them. Not thread-safe.
 */
final class NonNullLookup implements KeyLookup {

    private final KeyLookup lookup;
    private final NullKeys nullKeys;
    private final int dimension;

    /**
     * @param nullKeys of the facts of the next lookup
     */
    NonNullLookup(KeyLookup lookup, NullKeys nullKeys, int dimension) {
        this.lookup = lookup;
        this.nullKeys = nullKeys;
        this.dimension = dimension;
    }

    @Override
    public int findFirst(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches) {
        int found = lookup.findFirst(base, keys, count, firstNumber, numbers, matches);
        int kept = 0;
        for (int i = 0; i < found; i++) {
            int number = Memory.getInt(numbers + 4L * i);
            Memory.putInt(numbers + 4L * kept, number);
            Memory.putLong(matches + 8L * kept, Memory.getLong(matches + 8L * i));
            kept += 1 - nullKeys.isNull(dimension, number - firstNumber);
        }
        return kept;
    }
}
