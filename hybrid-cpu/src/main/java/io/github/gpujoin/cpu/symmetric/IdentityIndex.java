// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;

/**
 * The rows of an input by the hash of what identifies them, so that a retraction finds its row at
 * the same cost for every key.
 *
 * <pre>
 *   0          4          8
 *  +----------+----------+
 *  | hash     | id + 1   |    0 if the slot is free
 *  +----------+----------+
 * </pre>
 */
final class IdentityIndex extends SegmentedIndex {

    private static final int SLOT_BYTES = 8;
    private static final int ID_OFFSET = 4;

    /** Compares a stored row. */
    interface Identity {
        boolean matches(int id);
    }

    IdentityIndex(Allocator allocator) {
        super(allocator, SLOT_BYTES);
    }

    /** Returns the slot in which the probe sequence of a hash starts. */
    long home(int hash) {
        return base(hash) + (long) (hash & slotMask()) * SLOT_BYTES;
    }

    /** Returns the slot of a row, or the free slot where it belongs. */
    long find(int hash, Identity identity) {
        long base = base(hash);
        int mask = slotMask();
        int slot = hash & mask;
        while (true) {
            long address = base + (long) slot * SLOT_BYTES;
            int id = id(address);
            if (id < 0 || Memory.getInt(address) == hash && identity.matches(id)) {
                return address;
            }
            slot = slot + 1 & mask;
        }
    }

    /** Returns the row of a slot, or -1 if it is free. */
    int id(long slot) {
        return Memory.getInt(slot + ID_OFFSET) - 1;
    }

    void replace(long slot, int id) {
        Memory.putInt(slot + ID_OFFSET, id + 1);
    }

    /** Adds a row to the free slot that {@link #find} returned. */
    void add(long slot, int hash, int id) {
        long free = slot;
        if (isFull(hash)) {
            makeRoom(hash);
            free = find(hash, other -> false);
        }
        Memory.putInt(free, hash);
        Memory.putInt(free + ID_OFFSET, id + 1);
        added(hash);
    }

    @Override
    boolean isOccupied(long slot) {
        return id(slot) >= 0;
    }

    @Override
    int hash(long slot) {
        return Memory.getInt(slot);
    }
}
