// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;

/**
 * The chains of all inputs by key. One slot serves a row for its probes of the other inputs and for
 * its own addition, so that an appended row costs one cache miss.
 *
 * <pre>
 *   0                8          12
 *  +----------------+----------+----------+- - -
 *  | key            | input 0  | input 1  |        first links of the chains, {@link RowLinks}
 *  +----------------+----------+----------+- - -
 * </pre>
 *
 * <p>A slot is a multiple of 8 bytes.
 *
 * <p>A slot without links is free.
 */
final class KeyIndex extends SegmentedIndex implements RowIndex {

    private static final int LINKS_OFFSET = 8;

    private final int slotBytes;

    KeyIndex(Allocator allocator, int inputs) {
        super(allocator, slotBytes(inputs));
        this.slotBytes = slotBytes(inputs);
    }

    private static int slotBytes(int inputs) {
        return LINKS_OFFSET + (inputs + 1) / 2 * Long.BYTES;
    }

    @Override
    public boolean isOnHost() {
        return true;
    }

    @Override
    public KeyChains chains(int input, RowLinks links, boolean isRemovable) {
        return new HostChains(this, links, input, isRemovable);
    }

    @Override
    public long deviceBytes() {
        return 0;
    }

    /** Returns the offset of the link of an input in a slot. */
    static int linkOffset(int input) {
        return LINKS_OFFSET + Integer.BYTES * input;
    }

    static int hashOf(long key) {
        return (int) (SlotHash.hash(key) >>> Integer.SIZE);
    }

    static long key(long slot) {
        return Memory.getLong(slot);
    }

    /** Returns the slot in which the probe sequence of a hash starts. */
    long home(int hash) {
        return base(hash) + (long) (hash & slotMask()) * slotBytes;
    }

    /** Returns the slot of a key, or the free slot where it belongs. */
    long find(long key, int hash) {
        long base = base(hash);
        int mask = slotMask();
        int slot = hash & mask;
        while (true) {
            long address = base + (long) slot * slotBytes;
            if (!isOccupied(address) || Memory.getLong(address) == key) {
                return address;
            }
            slot = slot + 1 & mask;
        }
    }

    /** Returns the slot of a key, a new one if there is none. The caller sets a link. */
    long findOrAdd(long key, int hash) {
        long slot = find(key, hash);
        if (!isOccupied(slot)) {
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
        if (!isOccupied(slot)) {
            remove(hash, slot);
        }
    }

    @Override
    boolean isOccupied(long slot) {
        long links = Memory.getLong(slot + LINKS_OFFSET);
        for (int at = LINKS_OFFSET + Long.BYTES; at < slotBytes; at += Long.BYTES) {
            links |= Memory.getLong(slot + at);
        }
        return links != 0;
    }

    @Override
    int hash(long slot) {
        return hashOf(Memory.getLong(slot));
    }
}
