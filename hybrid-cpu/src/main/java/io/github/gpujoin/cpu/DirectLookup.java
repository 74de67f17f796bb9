// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Finds rows of a {@link DirectTable} in one branch-free loop. Immutable. */
final class DirectLookup implements KeyLookup {

    private final long minKey;
    private final long slots;
    private final long rows;
    private final long rowBytes;
    private final long presence;
    private final boolean returnsRows;

    /**
     * @param rows address of the row of slot 0
     * @param presence address of {@link PresenceBits}; 0 if all slots are occupied
     * @param returnsRows whether matches are rows of one 8-byte field instead of their addresses
     */
    DirectLookup(
            SlotFunction slotFunction,
            long rows,
            int rowBytes,
            long presence,
            boolean returnsRows) {
        this.minKey = slotFunction.minKey();
        this.slots = slotFunction.slots();
        this.rows = rows;
        this.rowBytes = rowBytes;
        this.presence = presence;
        this.returnsRows = returnsRows;
    }

    @Override
    public int findFirst(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches) {
        int leading =
                presence == 0 ? findLeading(base, keys, count, firstNumber, numbers, matches) : 0;
        return leading
                + findAny(
                        base,
                        keys + 8L * leading,
                        count - leading,
                        firstNumber + leading,
                        numbers + 4L * leading,
                        matches + 8L * leading);
    }

    /**
     * Finds the rows of all keys up to the first one without a row, in a table without holes.
     *
     * <p>Foreign keys usually all have a row. Then this loop takes half the instructions, so that
     * twice as many loads of rows are in flight.
     */
    private int findLeading(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches) {
        long minKey = this.minKey;
        long slots = this.slots;
        long rows = this.rows;
        long rowBytes = this.rowBytes;
        boolean returnsRows = this.returnsRows;
        for (int i = 0; i < count; i++) {
            long slot = Memory.getLong(base, keys + 8L * i) - minKey;
            if (Long.compareUnsigned(slot, slots) >= 0) {
                return i;
            }
            long row = rows + slot * rowBytes;
            Memory.putInt(numbers + 4L * i, firstNumber + i);
            Memory.putLong(matches + 8L * i, returnsRows ? Memory.getLong(row) : row);
        }
        return count;
    }

    /** Finds the rows of keys of which many may have none, without a branch on the data. */
    private int findAny(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches) {
        // Locals, since the compiler assumes that stores to native memory may change fields.
        long minKey = this.minKey;
        long slots = this.slots;
        long rows = this.rows;
        long rowBytes = this.rowBytes;
        long presence = this.presence;
        boolean returnsRows = this.returnsRows;
        long numberAt = numbers;
        long matchAt = matches;
        for (int i = 0; i < count; i++) {
            long distance = Memory.getLong(base, keys + 8L * i) - minKey;
            long kept = SlotFunction.isWithin(distance, slots);
            long slot = distance & kept;
            long row = rows + slot * rowBytes;
            // Loop-invariant, so the compiler generates a loop for each case.
            if (presence != 0) {
                kept &= -PresenceBits.get(presence, slot);
            }
            Memory.putInt(numberAt, firstNumber + i);
            Memory.putLong(matchAt, returnsRows ? Memory.getLong(row) : row);
            numberAt += kept & Integer.BYTES;
            matchAt += kept & Long.BYTES;
        }
        return (int) (numberAt - numbers) / Integer.BYTES;
    }
}
