// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Region;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link DirectTable} in one pass over the staged rows.
 *
 * <p>Repeated keys are known only after that pass, so the staged rows are kept until then.
 */
final class DirectTableBuilder implements TableBuilder {

    /** At most one of so many slots may have no key, if rows have payload. */
    private static final long SLOTS_PER_HOLE = 8;

    private final BuildStaging staging;
    private final SlotFunction slotFunction;
    private final boolean keepsRepeats;
    private final RowLayout layout;
    private final Work work;
    private @Nullable Region rows;
    private @Nullable PresenceBits presence;
    private long keyCount;

    /**
     * @param keepsRepeats whether rows of a key after the first one matter; if not, rows have no
     *     payload
     */
    DirectTableBuilder(BuildStaging staging, SlotFunction slotFunction, boolean keepsRepeats) {
        this.staging = staging;
        this.slotFunction = slotFunction;
        this.keepsRepeats = keepsRepeats;
        this.layout = staging.layout().withoutKey();
        this.work =
                isDense()
                        ? new Work.Sequence()
                                .then(this::clear)
                                .then(this::scatter)
                                .then(this::emptyStaging)
                        : Work.NONE;
    }

    @Override
    public boolean step(long maxRows) {
        return work.step(maxRows);
    }

    private boolean isDense() {
        long holes = slotFunction.slots() - staging.rowCount();
        boolean filled = layout.rowBytes() == 0 || holes * SLOTS_PER_HOLE <= slotFunction.slots();
        return slotFunction.isDirect() && filled && (holes >= 0 || !keepsRepeats);
    }

    private Work clear() {
        rows = staging.allocator().allocate((long) slotFunction.slots() * layout.rowBytes());
        presence = new PresenceBits(slotFunction.slots(), staging.allocator());
        return presence.clearing();
    }

    /** Copies each row to its slot. */
    private Work scatter() {
        return BuildStaging.pass(staging.rows().cursor(), staging.layout(), this::scatter);
    }

    /** Returns whether the table loses no row that matters. */
    private boolean keepsAllRows() {
        return rows != null && (!keepsRepeats || keyCount == staging.rowCount());
    }

    private Work emptyStaging() {
        return keepsAllRows()
                ? BuildStaging.pass(
                        staging.rows().drainingCursor(), staging.layout(), (at, length) -> {})
                : Work.NONE;
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

    @Override
    public @Nullable CpuJoinTable table() {
        if (!keepsAllRows()) {
            return null;
        }
        boolean filled = keyCount == slotFunction.slots();
        if (filled) {
            presence.close();
            presence = null;
        }
        DirectTable table =
                new DirectTable(
                        layout, slotFunction, rows, presence, staging.detachVariableWidth());
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
