package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Device memory and pinned host memory with one owner and one budget, freed together in reverse
 * order. To be closed while the serving kernel stands still; legal twice. Not thread-safe, but for
 * {@link #lengthBytes}.
 */
final class Buffers implements AutoCloseable {

    private static final AtomicLong OPEN_COUNT = new AtomicLong();

    private record Buffer(long address, long lengthBytes, boolean pinned) {}

    private final DeviceMemory memory;
    private final MemoryBudget budget;
    private final ArrayDeque<Buffer> buffers = new ArrayDeque<>();
    private volatile long lengthBytes;

    /** To be had from {@link DeviceMemory#buffers}. */
    Buffers(DeviceMemory memory, MemoryBudget budget) {
        this.memory = memory;
        this.budget = budget;
    }

    /** Another owner of memory of the same device within the same budget. */
    Buffers sibling() {
        return new Buffers(memory, budget);
    }

    /** Buffers of this process that are open. */
    static long openCount() {
        return OPEN_COUNT.get();
    }

    /** Device memory of unspecified content. */
    long device(long lengthBytes) {
        return add(new Buffer(memory.takeDevice(lengthBytes, budget), lengthBytes, false));
    }

    /** Mapped host memory of unspecified content. */
    long pinned(long lengthBytes) {
        return add(new Buffer(memory.takePinned(lengthBytes, budget), lengthBytes, true));
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

    /** Hands everything to another owner of memory of the same device. */
    void moveTo(Buffers owner) {
        while (!buffers.isEmpty()) {
            owner.push(buffers.removeLast());
        }
        lengthBytes = 0;
    }

    /** Bytes of device and pinned memory together. */
    long lengthBytes() {
        return lengthBytes;
    }

    /**
     * Forgets everything without freeing it: on a device whose kernel stands still the driver would
     * wait for it. The memory comes back with the process.
     */
    void abandon() {
        while (!buffers.isEmpty()) {
            Buffer buffer = remove();
            if (buffer.pinned) {
                memory.abandonPinned(buffer.lengthBytes);
            } else {
                memory.abandonDevice(buffer.lengthBytes);
            }
        }
    }

    /** Frees everything; of a lost device, which refuses that or waits, {@link #abandon}s it. */
    @Override
    public void close() {
        if (memory.isLost()) {
            abandon();
            return;
        }
        try {
            while (!buffers.isEmpty()) {
                Buffer buffer = remove();
                if (buffer.pinned) {
                    memory.freePinned(buffer.address, buffer.lengthBytes);
                } else {
                    memory.freeDevice(buffer.address, buffer.lengthBytes);
                }
            }
        } catch (GpuUnavailableException e) {
            abandon();
        }
    }

    private Buffer remove() {
        OPEN_COUNT.decrementAndGet();
        Buffer buffer = buffers.pop();
        lengthBytes -= buffer.lengthBytes;
        return buffer;
    }
}
