// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/**
 * The slots of the keys of a symmetric join in device memory, one size of them.
 *
 * <pre>
 *   slotCount + 1 slots of 16 bytes | used, 8 bytes | slotCount + 1 pending of 4 bytes, if needed
 * </pre>
 */
final class MatchSlots implements AutoCloseable {

    static final long MIN_SLOTS = 1 << 10;

    /** 32 GiB. */
    private static final long MAX_SLOTS = 1L << 31;

    private final BulkMemory memory;
    private final long slotCount;
    private final long address;
    private final boolean hasPending;

    /**
     * @param slotCount a power of two
     * @param hasPending whether rows are removed
     */
    MatchSlots(MatchDevice device, long slotCount, boolean hasPending) {
        this.slotCount = slotCount;
        this.hasPending = hasPending;
        this.memory = device.newMemory();
        long bytes = pendingOffset() + (hasPending ? Integer.BYTES * (slotCount + 1) : 0);
        try {
            this.address = memory.allocate(bytes);
            device.clear(address, bytes);
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
    }

    /**
     * Returns the number of slots for twice as many keys.
     *
     * @throws GpuUnavailableException if there are too many
     */
    static long slotsFor(long keys) {
        long slots = MIN_SLOTS;
        while (slots < MAX_SLOTS && maxKeys(slots) < 2 * keys) {
            slots *= 2;
        }
        if (keys > maxKeys(slots)) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Too many keys in a subtask: keys=" + keys + ". Raise the parallelism.");
        }
        return slots;
    }

    private static long maxKeys(long slots) {
        return slots / 2 + slots / 8;
    }

    /** Returns the number of keys from which on the slots are too full. */
    long maxKeys() {
        return maxKeys(slotCount);
    }

    long slotCount() {
        return slotCount;
    }

    long address() {
        return address;
    }

    long usedAddress() {
        return address + MatchDescriptor.SLOT_BYTES * (slotCount + 1);
    }

    private long pendingOffset() {
        return MatchDescriptor.SLOT_BYTES * (slotCount + 1) + Long.BYTES;
    }

    /** Returns 0 if rows are never removed. */
    long pendingAddress() {
        return hasPending ? address + pendingOffset() : 0;
    }

    @Override
    public void close() {
        memory.close();
    }
}
