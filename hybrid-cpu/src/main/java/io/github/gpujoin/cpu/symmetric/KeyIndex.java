// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;

/**
 * The chains of both inputs by key. One slot serves a row twice, for its probe of the other input
 * and for its own addition, so that an appended row costs one cache miss.
 *
 * <pre>
 *   0                8          12         16
 *  +----------------+----------+----------+
 *  | key            | left     | right    |    first links of the chains, {@link RowLinks}
 *  +----------------+----------+----------+
 * </pre>
 *
 * <p>A slot without links is free.
 */
final class KeyIndex extends SegmentedIndex {

    private static final int SLOT_BYTES = 16;
    private static final int LINKS_OFFSET = 8;

    KeyIndex(Allocator allocator) {
        super(allocator, SLOT_BYTES);
    }

    /** Returns the offset of the link of an input in a slot. */
    static int linkOffset(JoinSide side) {
        return LINKS_OFFSET + Integer.BYTES * side.ordinal();
    }

    static int hashOf(long key) {
        return (int) (SlotHash.hash(key) >>> Integer.SIZE);
    }

    static long key(long slot) {
        return Memory.getLong(slot);
    }

    /** Returns the slot in which the probe sequence of a hash starts. */
    long home(int hash) {
        return base(hash) + (long) (hash & slotMask()) * SLOT_BYTES;
    }

    /** Returns the slot of a key, or the free slot where it belongs. */
    long find(long key, int hash) {
        long base = base(hash);
        int mask = slotMask();
        int slot = hash & mask;
        while (true) {
            long address = base + (long) slot * SLOT_BYTES;
            if (Memory.getLong(address + LINKS_OFFSET) == 0 || Memory.getLong(address) == key) {
                return address;
            }
            slot = slot + 1 & mask;
        }
    }

    /** Returns the slot of a key, a new one if there is none. The caller sets a link. */
    long findOrAdd(long key, int hash) {
        long slot = find(key, hash);
        if (Memory.getLong(slot + LINKS_OFFSET) == 0) {
            if (isFull(hash)) {
                makeRoom(hash);
                slot = find(key, hash);
            }
            Memory.putLong(slot, key);
            added(hash);
        }
        return slot;
    }

    /** Frees a slot if it has no link. */
    void removeIfEmpty(long slot, int hash) {
        if (Memory.getLong(slot + LINKS_OFFSET) == 0) {
            remove(hash, slot);
        }
    }

    @Override
    boolean isOccupied(long slot) {
        return Memory.getLong(slot + LINKS_OFFSET) != 0;
    }

    @Override
    int hash(long slot) {
        return hashOf(Memory.getLong(slot));
    }
}
