package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;

/**
 * A table whose keys fill their range, as surrogate keys of a star schema do, and do not repeat: a
 * key's distance from the smallest one tells where its row stands.
 *
 * <pre>
 *  rows:      A B . D E ...     by slot = key - minKey, in {@link RowLayout} without the key;
 *                               unspecified where no key has the slot
 *  presence:  1 1 0 1 1 ...     a bit for each slot; none where all slots are taken
 * </pre>
 *
 * <p>Has at least one slot.
 */
final class DirectTable extends CpuJoinTable {

    private final SlotFunction slotFunction;
    private final Region rows;
    private final PresenceBits presence;
    private final PagedMemory carried;

    /**
     * Takes over the memory.
     *
     * @param presence null where all slots are taken
     */
    DirectTable(
            RowLayout layout,
            SlotFunction slotFunction,
            Region rows,
            PresenceBits presence,
            PagedMemory carried) {
        super(layout);
        this.slotFunction = slotFunction;
        this.rows = rows;
        this.presence = presence;
        this.carried = carried;
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

    private KeyLookup lookup(boolean givesRows) {
        long presenceAddress = presence == null ? 0 : presence.address();
        return new DirectLookup(
                slotFunction, rows.address(), layout().rowBytes(), presenceAddress, givesRows);
    }

    @Override
    long nextMatch(long row) {
        return 0;
    }

    @Override
    long lengthBytes() {
        return rows.lengthBytes()
                + (presence == null ? 0 : presence.lengthBytes())
                + carried.lengthBytes();
    }

    @Override
    void free() {
        rows.close();
        if (presence != null) {
            presence.close();
        }
        carried.close();
    }
}
