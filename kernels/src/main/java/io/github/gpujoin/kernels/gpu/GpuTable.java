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
 * The table of one dimension in device memory, or a shard of it, owned by the {@link Buffers} it
 * was built with. Immutable.
 *
 * @param rowCount rows for which it has room, less than 2^31 - 1; of a shard, its rows
 * @param rows device address of the rows; in a UNIQUE table, of the slots
 * @param slots device address of the slots
 * @param hasUniqueKeys whether no key has more than one row
 * @param shards whether this is one of several shards of a table, and how to reach the others
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
        Shards shards,
        List<PayloadRange> ranges) {

    /**
     * The shards of a table.
     *
     * @param count number of shards; 0 for a whole table
     * @param number of this shard
     * @param address of all Shards, in the memory of the device that reads them; 0 while they are
     *     built
     */
    record Shards(int count, int number, long address) {

        static final Shards NONE = new Shards(0, 0, 0);

        /** Returns the bits for the number of a row in its shard. */
        int rowShift() {
            return Integer.numberOfLeadingZeros(count - 1);
        }
    }

    GpuTable {
        boolean isTooLong =
                shards.count() == 0
                        ? rowCount >= Integer.MAX_VALUE
                        : kind.slotCount(rowCount) >= 1L << shards.rowShift();
        if (isTooLong) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Table exceeds the device limit of 2^31 - 2 rows: rowCount=%d, shards=%d. Partition the dimension over more subtasks."
                            .formatted(rowCount, shards.count()));
        }
    }

    /** Returns a table without slots. */
    static GpuTable unallocated(TableKind kind, BuildRowLayout layout, Shards shards) {
        boolean isUnique = kind == TableKind.UNIQUE;
        return new GpuTable(kind, layout, 0, 0, 0, isUnique, shards, List.of());
    }

    /** Allocates a table, or a shard, with empty slots and no rows beside them. */
    static GpuTable empty(
            CudaDriver driver,
            Buffers slotsOwner,
            TableKind kind,
            BuildRowLayout layout,
            long rowCount,
            Shards shards) {
        long slotsBytes = kind.slotsBytes(rowCount, layout.rowBytes());
        long slots = slotsOwner.device(slotsBytes);
        if (slotsBytes > 0) {
            driver.fillDevice(slots, (byte) -1, slotsBytes);
        }
        boolean isUnique = kind == TableKind.UNIQUE;
        return new GpuTable(kind, layout, rowCount, slots, slots, isUnique, shards, List.of());
    }

    /** Returns this table with rows beside its slots. */
    GpuTable withRows(long rows) {
        return new GpuTable(kind, layout, rowCount, rows, slots, hasUniqueKeys, shards, ranges);
    }

    /** Returns this table with unique keys, whose values are in these ranges. */
    GpuTable withUniqueKeys(List<PayloadRange> ranges) {
        return new GpuTable(kind, layout, rowCount, rows, slots, true, shards, List.copyOf(ranges));
    }

    /**
     * Returns this shard as part of a complete table.
     *
     * @param address of all Shards in the memory of the device that reads them
     */
    GpuTable withShards(long address) {
        Shards complete = new Shards(shards.count(), shards.number(), address);
        return new GpuTable(kind, layout, rowCount, rows, slots, hasUniqueKeys, complete, ranges);
    }

    /** Writes the Shard of this table. */
    void writeShard(long address) {
        Memory.putLong(address + PlanDescriptor.SHARD_SLOTS_OFFSET, slots);
        Memory.putLong(address + PlanDescriptor.SHARD_ROWS_OFFSET, rows);
        Memory.putInt(address + PlanDescriptor.SHARD_SLOT_COUNT_OFFSET, (int) slotCount());
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
        boolean isComplete = shards.address() != 0;
        Memory.putLong(
                address + PlanDescriptor.DIMENSION_SLOTS_OFFSET,
                isComplete ? shards.address() : slots);
        if (isComplete) {
            putByte(address + PlanDescriptor.DIMENSION_SHARD_COUNT_OFFSET, shards.count());
            putByte(address + PlanDescriptor.DIMENSION_ROW_SHIFT_OFFSET, shards.rowShift());
        } else {
            putByte(address + PlanDescriptor.DIMENSION_BUILT_SHARDS_OFFSET, shards.count());
            putByte(address + PlanDescriptor.DIMENSION_BUILT_SHARD_OFFSET, shards.number());
        }
        Memory.putLong(address + PlanDescriptor.DIMENSION_ROWS_OFFSET, rows);
        Memory.putInt(address + PlanDescriptor.DIMENSION_SLOT_COUNT_OFFSET, (int) slotCount());
        Memory.putInt(address + PlanDescriptor.DIMENSION_ROW_BYTES_OFFSET, layout.rowBytes());
        Memory.putInt(address + PlanDescriptor.DIMENSION_TABLE_KIND_OFFSET, kind.ordinal());
        Memory.putLong(address + PlanDescriptor.DIMENSION_HASH_SEED_OFFSET, SlotHash.SEED);
        Memory.putLong(
                address + PlanDescriptor.DIMENSION_HASH_MULTIPLIER_OFFSET, SlotHash.MULTIPLIER);
    }

    private static void putByte(long address, int value) {
        Memory.putByte(null, address, (byte) value);
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
