// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.TaskManagerOptions;

/**
 * Managed memory for tables that refer to chunks on the heap. Flink's managed memory may be larger
 * than the heap, so all such tables of a process together are bounded by half of the heap as well.
 * Thread-safe.
 *
 * @param managed that Flink planned
 * @param usedBytes of all tables of the process
 * @param limitBytes of all tables of the process
 */
record HeapReservations(MemoryReservations managed, AtomicLong usedBytes, long limitBytes)
        implements MemoryReservations {

    private static final AtomicLong PROCESS_BYTES = new AtomicLong();

    /** Returns reservations that share the heap of this process. */
    static HeapReservations of(MemoryReservations managed) {
        return new HeapReservations(managed, PROCESS_BYTES, Runtime.getRuntime().maxMemory() / 2);
    }

    @Override
    public void reserve(long lengthBytes) {
        long used = usedBytes.addAndGet(lengthBytes);
        try {
            if (used > limitBytes) {
                throw new MemoryRefusedException(
                        "Rows of regular joins exceed half of the heap: neededBytes=%d, usedBytes=%d, limitBytes=%d. Raise %s."
                                .formatted(
                                        lengthBytes,
                                        used - lengthBytes,
                                        limitBytes,
                                        TaskManagerOptions.TASK_HEAP_MEMORY.key()),
                        null);
            }
            managed.reserve(lengthBytes);
        } catch (MemoryRefusedException e) {
            usedBytes.addAndGet(-lengthBytes);
            throw e;
        }
    }

    @Override
    public void release(long lengthBytes) {
        usedBytes.addAndGet(-lengthBytes);
        managed.release(lengthBytes);
    }

    @Override
    public long availableBytes() {
        return Math.max(0, Math.min(managed.availableBytes(), limitBytes - usedBytes.get()));
    }
}
