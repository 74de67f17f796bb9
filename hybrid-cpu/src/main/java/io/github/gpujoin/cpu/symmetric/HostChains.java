// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.Memory;
import java.util.function.IntPredicate;

/**
 * Chains in host memory, from the last added row to the first. The {@link KeyIndex} of all inputs
 * refers to them, and the {@link RowLinks} of the input contain them.
 */
final class HostChains implements KeyChains {

    private final KeyIndex index;
    private final RowLinks links;
    private final int linkOffset;

    /** Whether rows leave, so that chains are linked both ways. */
    private final boolean isRemovable;

    /**
     * @param input number of the input
     */
    HostChains(KeyIndex index, RowLinks links, int input, boolean isRemovable) {
        this.index = index;
        this.links = links;
        this.linkOffset = KeyIndex.linkOffset(input);
        this.isRemovable = isRemovable;
    }

    @Override
    public void reserve(int lastId) {
        // The owner of the links makes room.
    }

    @Override
    public void makeRoom(int hash) {
        index.makeRoomIfFull(hash);
    }

    @Override
    public boolean isOnHost() {
        return true;
    }

    @Override
    public int find(long key, int hash, IntPredicate isSame) {
        int link = Memory.getInt(index.find(key, hash) + linkOffset);
        while (link != 0) {
            int id = RowLinks.id(link);
            if (isSame.test(id)) {
                return id;
            }
            link = links.next(id);
        }
        return -1;
    }

    @Override
    public void add(long key, int hash, int id) {
        link(index.findOrAdd(key, hash), id);
    }

    @Override
    public void remove(long key, int hash, int id) {
        long slot = index.find(key, hash);
        unlink(slot, id);
        index.removeIfEmpty(slot, hash);
    }

    @Override
    public void replace(long key, int hash, int old, int id) {
        long slot = index.find(key, hash);
        unlink(slot, old);
        link(slot, id);
    }

    @Override
    public void move(long key, int hash, int from, int to) {
        int next = links.next(from);
        int previous = links.previous(from);
        links.setNext(to, next);
        links.setPrevious(to, previous);
        if (previous == 0) {
            Memory.putInt(index.find(key, hash) + linkOffset, to + 1 | RowLinks.MORE);
        } else {
            links.setNext(previous - 1, to + 1 | RowLinks.MORE);
        }
        if (next != 0) {
            links.setPrevious(RowLinks.id(next), to + 1);
        }
    }

    private void link(long slot, int id) {
        int first = Memory.getInt(slot + linkOffset);
        boolean hasMore = first != 0 || isRemovable;
        links.setNext(id, first);
        Memory.putInt(slot + linkOffset, id + 1 | (hasMore ? RowLinks.MORE : 0));
        if (isRemovable) {
            links.setPrevious(id, 0);
            if (first != 0) {
                links.setPrevious(RowLinks.id(first), id + 1);
            }
        }
    }

    private void unlink(long slot, int id) {
        int next = links.next(id);
        int previous = links.previous(id);
        if (previous == 0) {
            Memory.putInt(slot + linkOffset, next);
        } else {
            links.setNext(previous - 1, next);
        }
        if (next != 0) {
            links.setPrevious(RowLinks.id(next), previous);
        }
    }

    /** Does nothing: the owners of the index and of the links close them. */
    @Override
    public void close() {}
}
