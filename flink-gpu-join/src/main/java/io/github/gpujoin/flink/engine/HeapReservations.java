// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.TaskManagerOptions;

/**
 * Managed memory for the tables of one join that refer to chunks on the heap. Flink's managed
 * memory may be larger than the heap, so all such tables of a process together are bounded by half
 * of the heap as well.
 *
 * <p>A join moves chunks to files only when memory is refused, so one join may occupy that half for
 * good. Each join can therefore always reserve an equal part of a quarter of the heap. The others
 * are then refused memory until all are within the half again. Thread-safe.
 */
final class HeapReservations implements MemoryReservations, AutoCloseable {

    /** The heap that all joins of a process use. */
    static final class Heap {

        private final long limitBytes;
        private final AtomicLong usedBytes = new AtomicLong();
        private final AtomicInteger joinCount = new AtomicInteger();

        Heap(long limitBytes) {
            this.limitBytes = limitBytes;
        }

        /** Returns the bytes that each join can always reserve. */
        private long guaranteedBytes() {
            return limitBytes / 2 / Math.max(1, joinCount.get());
        }
    }

    private static final Heap PROCESS = new Heap(Runtime.getRuntime().maxMemory() / 2);

    private final MemoryReservations managed;
    private final Heap heap;
    private final AtomicLong ownBytes = new AtomicLong();
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /**
     * @param managed that Flink planned
     */
    HeapReservations(MemoryReservations managed, Heap heap) {
        this.managed = managed;
        this.heap = heap;
        heap.joinCount.incrementAndGet();
    }

    /** Returns reservations that share the heap of this process. */
    static HeapReservations of(MemoryReservations managed) {
        return new HeapReservations(managed, PROCESS);
    }

    @Override
    public void reserve(long lengthBytes) {
        long own = ownBytes.addAndGet(lengthBytes);
        long used = heap.usedBytes.addAndGet(lengthBytes);
        try {
            if (used > heap.limitBytes && own > heap.guaranteedBytes()) {
                throw new MemoryRefusedException(
                        "Rows of regular joins exceed half of the heap: neededBytes=%d, usedBytes=%d, limitBytes=%d. Raise %s."
                                .formatted(
                                        lengthBytes,
                                        used - lengthBytes,
                                        heap.limitBytes,
                                        TaskManagerOptions.TASK_HEAP_MEMORY.key()),
                        null);
            }
            managed.reserve(lengthBytes);
        } catch (MemoryRefusedException e) {
            uncount(lengthBytes);
            throw e;
        }
    }

    private void uncount(long lengthBytes) {
        ownBytes.addAndGet(-lengthBytes);
        heap.usedBytes.addAndGet(-lengthBytes);
    }

    @Override
    public void release(long lengthBytes) {
        uncount(lengthBytes);
        managed.release(lengthBytes);
    }

    @Override
    public long availableBytes() {
        long onHeap =
                Math.max(
                        heap.limitBytes - heap.usedBytes.get(),
                        heap.guaranteedBytes() - ownBytes.get());
        return Math.max(0, Math.min(managed.availableBytes(), onHeap));
    }

    /** Ends the claim to a part of the heap. Reservations stay until they are released. */
    @Override
    public void close() {
        if (isClosed.compareAndSet(false, true)) {
            heap.joinCount.decrementAndGet();
        }
    }
}
