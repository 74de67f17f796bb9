// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;
import org.jspecify.annotations.Nullable;

/**
 * A table of unique, dense keys, such as surrogate keys of a star schema: the slot of a key is its
 * distance from the smallest key.
 *
 * <pre>
 *  rows:      A B . D E ...     by slot = key - minKey, in {@link RowLayout} without the key;
 *                               undefined if the slot has no key
 *  presence:  1 1 0 1 1 ...     a bit for each slot; absent if all slots are occupied
 * </pre>
 *
 * <p>It has at least one slot.
 */
final class DirectTable extends CpuJoinTable {

    private final SlotFunction slotFunction;
    private final Region rows;
    private final @Nullable PresenceBits presence;
    private final PagedMemory variableWidth;

    /**
     * Takes ownership of the memory.
     *
     * @param presence null if all slots are occupied
     */
    DirectTable(
            RowLayout layout,
            SlotFunction slotFunction,
            Region rows,
            @Nullable PresenceBits presence,
            PagedMemory variableWidth) {
        super(layout);
        this.slotFunction = slotFunction;
        this.rows = rows;
        this.presence = presence;
        this.variableWidth = variableWidth;
    }

    @Override
    boolean isUnique() {
        return true;
    }

    @Override
    boolean hasRowLookup() {
        return layout().isOneLong();
    }

    @Override
    KeyLookup addressLookup(int maxKeys, PagedMemory memory) {
        return lookup(false);
    }

    @Override
    KeyLookup rowLookup() {
        return lookup(true);
    }

    private KeyLookup lookup(boolean returnsRows) {
        long presenceAddress = presence == null ? 0 : presence.address();
        return new DirectLookup(
                slotFunction, rows.address(), layout().rowBytes(), presenceAddress, returnsRows);
    }

    @Override
    long nextMatch(long row) {
        return 0;
    }

    @Override
    long lengthBytes() {
        return rows.lengthBytes()
                + (presence == null ? 0 : presence.lengthBytes())
                + variableWidth.lengthBytes();
    }

    @Override
    void free() {
        rows.close();
        if (presence != null) {
            presence.close();
        }
        variableWidth.close();
    }
}
