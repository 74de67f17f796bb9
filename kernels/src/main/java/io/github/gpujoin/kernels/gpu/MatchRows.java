// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Keys and links of rows in pinned memory, where kernels read them over the bus.
 *
 * <pre>
 *   capacity keys of 8 bytes | capacity links of 4 bytes
 * </pre>
 */
final class MatchRows {

    private static final int MIN_ROWS = 1 << 10;

    private final MatchDevice device;
    private @Nullable BulkMemory memory;
    private long address;
    private int capacity;
    private long lastUse;

    MatchRows(MatchDevice device) {
        this.device = device;
    }

    /** Writes rows. Waits until no kernel reads earlier ones. */
    void write(long[] keys, int[] links, int count) {
        device.await(lastUse);
        if (count > capacity) {
            int grown = Math.max(MIN_ROWS, Integer.highestOneBit(count - 1) * 2);
            if (memory != null) {
                memory.close();
                memory = null;
                capacity = 0;
            }
            memory = device.newMemory();
            address = memory.allocatePinned((long) grown * (Long.BYTES + Integer.BYTES));
            capacity = grown;
        }
        Memory.copy(keys, Memory.LONGS, null, address, (long) Long.BYTES * count);
        Memory.copy(links, Memory.INTS, null, linksAddress(), (long) Integer.BYTES * count);
    }

    /** Skips a row that was written. */
    void skip(int row) {
        Memory.putInt(linksAddress() + (long) Integer.BYTES * row, 0);
    }

    long key(int row) {
        return Memory.getLong(address + (long) Long.BYTES * row);
    }

    /** Marks the rows as read by a launch. */
    void usedBy(long launch) {
        lastUse = launch;
    }

    int capacity() {
        return capacity;
    }

    long keysAddress() {
        return address;
    }

    long linksAddress() {
        return address + (long) Long.BYTES * capacity;
    }
}
