// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.slot;

import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.layout.ChunkSlots;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import org.jspecify.annotations.Nullable;

/**
 * Slots of one size in one region, which threads of a process fill with chunks and release.
 *
 * <pre>
 *   region:  slot 0 | slot 1 | ... | slot slotCount - 1       slotBytes each, a multiple of 64
 * </pre>
 *
 * <p>The slot that was released last is acquired first, since the processor's cache may still hold
 * it. Closing prevents further acquisitions; the region is freed once no slot has a user.
 * Thread-safe.
 */
public final class SlotPool implements ChunkSlots, AutoCloseable {

    private final Region region;
    private final int slotBytes;

    /** Numbers of the free slots, the first {@code freeCount} of them. */
    private final int[] free;

    private int freeCount;
    private boolean isClosed;

    /**
     * @param memory of the slots
     * @param slotCount at least 1
     * @param slotBytes rounded up to a multiple of 64
     */
    public SlotPool(Allocator memory, int slotCount, int slotBytes) {
        if (slotCount < 1 || slotBytes < 1) {
            throw new IllegalArgumentException(
                    "Slot pool is empty: slotCount=" + slotCount + ", slotBytes=" + slotBytes);
        }
        this.slotBytes = Math.toIntExact(lengthBytes(1, slotBytes));
        this.region = memory.allocate(lengthBytes(slotCount, slotBytes));
        this.free = new int[slotCount];
        this.freeCount = slotCount;
        for (int slot = 0; slot < slotCount; slot++) {
            free[slot] = slotCount - 1 - slot;
        }
    }

    /** Returns the bytes of the slots of a pool. */
    public static long lengthBytes(int slotCount, int slotBytes) {
        long aligned = (slotBytes + Region.ALIGNMENT_BYTES - 1L) & -Region.ALIGNMENT_BYTES;
        return slotCount * aligned;
    }

    @Override
    public synchronized @Nullable ChunkSlot tryAcquire(int lengthBytes) {
        if (isClosed || freeCount == 0 || lengthBytes > slotBytes) {
            return null;
        }
        return new PooledSlot(free[--freeCount]);
    }

    /** Returns the number of slots without a user. */
    public synchronized int freeCount() {
        return freeCount;
    }

    public int slotCount() {
        return free.length;
    }

    /** Returns the maximum length of a chunk in bytes. */
    public int slotBytes() {
        return slotBytes;
    }

    private synchronized void free(int slot) {
        free[freeCount++] = slot;
    }

    /** Ends acquisitions. A second call has no effect. */
    @Override
    public void close() {
        synchronized (this) {
            isClosed = true;
        }
        // Waits for a device that reads the slots, which acquisitions must not.
        region.close();
    }

    /** A slot from its acquisition to its last release; later calls of its users fail. */
    private final class PooledSlot extends CountedSlot {

        private final int number;

        PooledSlot(int number) {
            super(region, region.address() + (long) number * slotBytes);
            this.number = number;
        }

        @Override
        protected void released() {
            free(number);
        }
    }
}
