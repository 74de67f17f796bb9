// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;

/**
 * The table of one dimension in device memory, owned by the {@link Buffers} it was built with.
 * Immutable.
 *
 * @param rowCount rows for which it has room, less than 2^31 - 1
 * @param rows device address of the rows; in a UNIQUE table, of the slots
 * @param slots device address of the slots
 * @param hasUniqueKeys whether no key has more than one row
 * @param ranges of the payload columns and, last, of the variable-width references; empty if they
 *     are unknown or the rows may change
 */
record GpuTable(
        TableKind kind,
        BuildRowLayout layout,
        long rowCount,
        long rows,
        long slots,
        boolean hasUniqueKeys,
        List<PayloadRange> ranges) {

    GpuTable {
        if (rowCount >= Integer.MAX_VALUE) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Table exceeds the device limit of 2^31 - 2 rows: rowCount=%d. Partition the dimension over more subtasks."
                            .formatted(rowCount));
        }
    }

    /** Allocates a table with empty slots and no rows beside them. */
    static GpuTable empty(
            CudaDriver driver,
            Buffers slotsOwner,
            TableKind kind,
            BuildRowLayout layout,
            long rowCount) {
        long slotsBytes = kind.slotsBytes(rowCount, layout.rowBytes());
        long slots = slotsOwner.device(slotsBytes);
        if (slotsBytes > 0) {
            driver.fillDevice(slots, (byte) -1, slotsBytes);
        }
        boolean isUnique = kind == TableKind.UNIQUE;
        return new GpuTable(kind, layout, rowCount, slots, slots, isUnique, List.of());
    }

    /** Returns this table with rows beside its slots. */
    GpuTable withRows(long rows) {
        return new GpuTable(kind, layout, rowCount, rows, slots, hasUniqueKeys, ranges);
    }

    /** Returns this table with unique keys, whose values are in these ranges. */
    GpuTable withUniqueKeys(List<PayloadRange> ranges) {
        return new GpuTable(kind, layout, rowCount, rows, slots, true, List.copyOf(ranges));
    }

    /**
     * Returns the range of a payload column.
     *
     * @param payload the number of payload columns stands for the variable-width references
     */
    PayloadRange range(int payload) {
        return ranges.isEmpty() ? PayloadRange.UNKNOWN : ranges.get(payload);
    }

    /** Writes the table fields of a Dimension; {@link JoinPlan} writes the others. */
    void write(long address) {
        Memory.putLong(address + PlanDescriptor.DIMENSION_SLOTS_OFFSET, slots);
        Memory.putLong(address + PlanDescriptor.DIMENSION_ROWS_OFFSET, rows);
        Memory.putInt(address + PlanDescriptor.DIMENSION_SLOT_COUNT_OFFSET, (int) slotCount());
        Memory.putInt(address + PlanDescriptor.DIMENSION_ROW_BYTES_OFFSET, layout.rowBytes());
        Memory.putInt(address + PlanDescriptor.DIMENSION_TABLE_KIND_OFFSET, kind.ordinal());
        Memory.putLong(address + PlanDescriptor.DIMENSION_HASH_SEED_OFFSET, SlotHash.SEED);
        Memory.putLong(
                address + PlanDescriptor.DIMENSION_HASH_MULTIPLIER_OFFSET, SlotHash.MULTIPLIER);
    }

    long slotCount() {
        return kind.slotCount(rowCount);
    }

    /** Returns the bytes of rows and slots in device memory. */
    long lengthBytes() {
        return slotsBytes() + kind.rowsBytes(rowCount, layout.rowBytes());
    }

    long slotsBytes() {
        return kind.slotsBytes(rowCount, layout.rowBytes());
    }
}
