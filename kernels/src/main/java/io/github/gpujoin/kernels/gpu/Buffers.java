// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Device memory and pinned host memory with one owner and the same limits, freed together in
 * reverse order.
 *
 * <p>Must be closed while the serving kernel is stopped; closing twice is allowed. Not thread-safe,
 * except for {@link #lengthBytes}.
 */
final class Buffers implements AutoCloseable {

    private static final AtomicLong OPEN_COUNT = new AtomicLong();

    private enum Kind {
        DEVICE,
        PINNED,
        SLAB
    }

    private record Buffer(long address, long lengthBytes, Kind kind) {}

    private final DeviceMemory memory;
    private final MemoryLimits limits;
    private final ArrayDeque<Buffer> buffers = new ArrayDeque<>();
    private volatile long lengthBytes;

    /** Called by {@link DeviceMemory#buffers}. */
    Buffers(DeviceMemory memory, MemoryLimits limits) {
        this.memory = memory;
        this.limits = limits;
    }

    /** Returns another owner of memory of the same device, within the same limits. */
    Buffers sibling() {
        return new Buffers(memory, limits);
    }

    /** Returns the number of unfreed allocations in this process. */
    static long openCount() {
        return OPEN_COUNT.get();
    }

    /** Allocates device memory with unspecified content. */
    long device(long lengthBytes) {
        return add(
                new Buffer(
                        memory.allocateDevice(lengthBytes, limits.budget()),
                        lengthBytes,
                        Kind.DEVICE));
    }

    /** Allocates pinned host memory, mapped for the device, with unspecified content. */
    long pinned(long lengthBytes) {
        return add(
                new Buffer(memory.allocatePinned(lengthBytes, limits), lengthBytes, Kind.PINNED));
    }

    /**
     * Does the same faster: with memory of ended joins, or with pages that the caller touches. Not
     * called while the serving kernel is stopped.
     */
    long slab(long lengthBytes, DeviceMemory.Pinning pinning) {
        KeptSlabs.Slab slab = memory.allocateSlab(lengthBytes, limits, pinning);
        return add(new Buffer(slab.address(), slab.lengthBytes(), Kind.SLAB));
    }

    private long add(Buffer buffer) {
        push(buffer);
        OPEN_COUNT.incrementAndGet();
        return buffer.address;
    }

    private void push(Buffer buffer) {
        buffers.push(buffer);
        lengthBytes += buffer.lengthBytes;
    }

    /** Transfers all memory to another owner for the same device. */
    void moveTo(Buffers owner) {
        while (!buffers.isEmpty()) {
            owner.push(buffers.removeLast());
        }
        lengthBytes = 0;
    }

    /** Returns the bytes of device and pinned memory together. */
    long lengthBytes() {
        return lengthBytes;
    }

    /**
     * Drops everything without freeing it. On a device whose kernel does not stop, the driver would
     * wait for the kernel. The operating system reclaims the memory when the process exits.
     */
    void abandon() {
        while (!buffers.isEmpty()) {
            Buffer buffer = remove();
            if (buffer.kind == Kind.DEVICE) {
                memory.abandonDevice(buffer.lengthBytes);
            } else {
                memory.abandonPinned(buffer.lengthBytes, limits);
            }
        }
    }

    /** Frees everything. If the device is lost or a call fails, {@link #abandon}s the rest. */
    @Override
    public void close() {
        if (memory.isLost()) {
            abandon();
            return;
        }
        try {
            while (!buffers.isEmpty()) {
                free(remove());
            }
        } catch (GpuUnavailableException e) {
            abandon();
        }
    }

    private void free(Buffer buffer) {
        switch (buffer.kind) {
            case DEVICE -> memory.freeDevice(buffer.address, buffer.lengthBytes);
            case PINNED -> memory.freePinned(buffer.address, buffer.lengthBytes, limits);
            case SLAB ->
                    memory.freeSlab(new KeptSlabs.Slab(buffer.address, buffer.lengthBytes), limits);
        }
    }

    private Buffer remove() {
        OPEN_COUNT.decrementAndGet();
        Buffer buffer = buffers.pop();
        lengthBytes -= buffer.lengthBytes;
        return buffer;
    }
}
