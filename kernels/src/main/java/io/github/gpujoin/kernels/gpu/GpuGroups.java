// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.Arrays;

/**
 * The groups of an aggregating engine in device memory: a table with room for all groups that the
 * blocks may add between two checks of their count. Use it only while the serving kernel is
 * stopped.
 */
final class GpuGroups {

    private static final int COUNT_BYTES = Long.BYTES;
    private static final byte FREE_SLOT = -1;

    private final Aggregation aggregation;
    private final CudaDriver driver;
    private final int slotCount;
    private final long count;
    private final long slots;
    private final long groups;

    /**
     * Allocates an empty table.
     *
     * @param newGroups that may be added after the count has reached the maximum
     */
    GpuGroups(Aggregation aggregation, CudaDriver driver, Buffers buffers, int newGroups) {
        this.aggregation = aggregation;
        this.driver = driver;
        int capacity = aggregation.maxGroups() + newGroups;
        this.slotCount = 2 * capacity;
        this.count = buffers.device(COUNT_BYTES);
        this.slots = buffers.device((long) Integer.BYTES * slotCount);
        this.groups = buffers.device(groupBytes() * capacity);
        clear();
    }

    private long groupBytes() {
        return (long) Long.BYTES * aggregation.groupWidth();
    }

    private void clear() {
        driver.fillDevice(count, (byte) 0, COUNT_BYTES);
        driver.fillDevice(slots, FREE_SLOT, (long) Integer.BYTES * slotCount);
    }

    /**
     * Writes the address and sizes of the table to an Aggregation; {@link AggregationPlan} writes
     * the rest.
     */
    void write(long address) {
        Memory.putLong(address + GroupDescriptor.AGGREGATION_SLOTS_OFFSET, slots);
        Memory.putLong(address + GroupDescriptor.AGGREGATION_GROUPS_OFFSET, groups);
        Memory.putLong(address + GroupDescriptor.AGGREGATION_GROUP_COUNT_OFFSET, count);
        Memory.putInt(address + GroupDescriptor.AGGREGATION_SLOT_COUNT_OFFSET, slotCount);
        Memory.putLong(address + GroupDescriptor.AGGREGATION_HASH_SEED_OFFSET, SlotHash.SEED);
        Memory.putLong(
                address + GroupDescriptor.AGGREGATION_HASH_MULTIPLIER_OFFSET, SlotHash.MULTIPLIER);
        Memory.putInt(
                address + GroupDescriptor.AGGREGATION_MAX_GROUPS_OFFSET, aggregation.maxGroups());
    }

    /** Returns the number of groups. */
    long rowCount() {
        return copyToHost(count, COUNT_BYTES)[0];
    }

    /** Returns all groups and clears the table. */
    GroupRows drain() {
        long rows = rowCount();
        GroupRows groupRows = new GroupRows(aggregation, copyToHost(groups, groupBytes() * rows));
        clear();
        return groupRows;
    }

    private long[] copyToHost(long device, long lengthBytes) {
        long[] words = new long[(int) (lengthBytes / Long.BYTES)];
        if (words.length > 0) {
            try (Region region = Region.allocate(lengthBytes)) {
                driver.copyToHost(region.address(), device, lengthBytes);
                Arrays.setAll(words, i -> Memory.getLong(region.address() + 8L * i));
            }
        }
        return words;
    }
}
