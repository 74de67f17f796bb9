package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Region;

/**
 * Makes a {@link DirectTable} in one pass over the staged rows. Whether a key repeats shows only
 * then, so staging is left alone until it is known.
 */
final class DirectTableBuilder implements AutoCloseable {

    /** At most one slot in so many may be without a key, where slots have rows. */
    private static final long SLOTS_PER_HOLE = 8;

    private final BuildStaging staging;
    private final SlotFunction slotFunction;
    private final boolean keepsRepeats;
    private final RowLayout layout;
    private Region rows;
    private PresenceBits presence;
    private long keyCount;

    private DirectTableBuilder(
            BuildStaging staging, SlotFunction slotFunction, boolean keepsRepeats) {
        this.staging = staging;
        this.slotFunction = slotFunction;
        this.keepsRepeats = keepsRepeats;
        this.layout = staging.layout().withoutKey();
    }

    /**
     * Makes the table and empties the staging; or, where keys leave too many holes or some have
     * rows to be kept beyond the first, does neither.
     *
     * @param keepsRepeats whether rows of a key after the first one matter; if not, rows have
     *     nothing but their key
     * @return null where there is no such table
     */
    static CpuJoinTable build(
            BuildStaging staging, SlotFunction slotFunction, boolean keepsRepeats) {
        try (DirectTableBuilder builder =
                new DirectTableBuilder(staging, slotFunction, keepsRepeats)) {
            return builder.isDense() && builder.scatter() ? builder.table() : null;
        }
    }

    private boolean isDense() {
        long holes = slotFunction.slots() - staging.rowCount();
        boolean filled = layout.rowBytes() == 0 || holes * SLOTS_PER_HOLE <= slotFunction.slots();
        return slotFunction.isDirect() && filled && (holes >= 0 || !keepsRepeats);
    }

    /** Copies each row to its slot, unless it turns out that rows of a key would be lost. */
    private boolean scatter() {
        rows = staging.allocator().allocate((long) slotFunction.slots() * layout.rowBytes());
        presence = new PresenceBits(slotFunction.slots(), staging.allocator());
        staging.rows().forEach(this::scatter);
        return !keepsRepeats || keyCount == staging.rowCount();
    }

    private void scatter(long address, long lengthBytes) {
        RowLayout stagedLayout = staging.layout();
        int stagedBytes = stagedLayout.rowBytes();
        int keyBytes = stagedLayout.keyBytes();
        int rowBytes = layout.rowBytes();
        long minKey = slotFunction.minKey();
        long target = rows.address();
        long bits = presence.address();
        long keys = 0;
        for (long row = address; row < address + lengthBytes; row += stagedBytes) {
            long slot = stagedLayout.key(row) - minKey;
            keys += 1 - PresenceBits.set(bits, slot);
            layout.copyRow(row + keyBytes, target + slot * rowBytes);
        }
        keyCount += keys;
    }

    private DirectTable table() {
        boolean filled = keyCount == slotFunction.slots();
        if (filled) {
            presence.close();
            presence = null;
        }
        staging.rows().close();
        DirectTable table =
                new DirectTable(layout, slotFunction, rows, presence, staging.takeCarried());
        rows = null;
        presence = null;
        return table;
    }

    @Override
    public void close() {
        if (rows != null) {
            rows.close();
        }
        if (presence != null) {
            presence.close();
        }
    }
}
