package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Device memory and pinned host memory with one owner, freed together in reverse order. To be
 * closed while the serving kernel stands still; legal twice. Not thread-safe.
 */
final class Buffers implements AutoCloseable {

    private static final AtomicLong OPEN_COUNT = new AtomicLong();

    private record Buffer(long address, long lengthBytes, boolean pinned) {}

    private final CudaDriver driver;
    private final ArrayDeque<Buffer> buffers = new ArrayDeque<>();

    Buffers(CudaDriver driver) {
        this.driver = driver;
    }

    /** Buffers of this process that are open. */
    static long openCount() {
        return OPEN_COUNT.get();
    }

    /** Device memory of unspecified content. */
    long device(long lengthBytes) {
        return add(new Buffer(driver.allocateDevice(lengthBytes), lengthBytes, false));
    }

    /** Mapped host memory of unspecified content. */
    long pinned(long lengthBytes) {
        return add(new Buffer(driver.allocatePinned(lengthBytes), lengthBytes, true));
    }

    private long add(Buffer buffer) {
        buffers.push(buffer);
        OPEN_COUNT.incrementAndGet();
        return buffer.address;
    }

    /** Hands everything to another owner of memory of the same device. */
    void moveTo(Buffers owner) {
        while (!buffers.isEmpty()) {
            owner.buffers.push(buffers.removeLast());
        }
    }

    /** Bytes of device and pinned memory together. */
    long lengthBytes() {
        return buffers.stream().mapToLong(Buffer::lengthBytes).sum();
    }

    /**
     * Forgets everything without freeing it: on a device whose kernel stands still the driver would
     * wait for it. The memory comes back with the process.
     */
    void abandon() {
        OPEN_COUNT.addAndGet(-buffers.size());
        buffers.clear();
    }

    /** Frees everything. A lost device refuses that, and its memory is gone with it. */
    @Override
    public void close() {
        try {
            while (!buffers.isEmpty()) {
                Buffer buffer = buffers.pop();
                OPEN_COUNT.decrementAndGet();
                free(buffer);
            }
        } catch (GpuUnavailableException e) {
            abandon();
        }
    }

    private void free(Buffer buffer) {
        if (buffer.pinned) {
            driver.freePinned(buffer.address);
        } else {
            driver.freeDevice(buffer.address);
        }
    }
}
