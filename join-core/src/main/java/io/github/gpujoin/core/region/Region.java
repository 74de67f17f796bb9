package io.github.gpujoin.core.region;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Off-heap memory with one owner, who closes it once; everybody else holds addresses into it.
 *
 * <p>The address is aligned to {@value #ALIGNMENT_BYTES} bytes (a cache line, and a GPU's smallest
 * coalesced unit times two). {@link #openCount()} and {@link #openBytes()} cover the whole process,
 * so that a test can prove that all regions came back. Closing is thread-safe and legal twice;
 * reading an address after the close is not.
 */
public final class Region implements AutoCloseable {

    public static final int ALIGNMENT_BYTES = 64;

    private static final AtomicLong OPEN_COUNT = new AtomicLong();
    private static final AtomicLong OPEN_BYTES = new AtomicLong();

    private final long allocation;
    private final long address;
    private final long lengthBytes;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Region(long allocation, long lengthBytes) {
        this.allocation = allocation;
        this.address = (allocation + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
        this.lengthBytes = lengthBytes;
    }

    /**
     * Memory of unspecified content.
     *
     * @throws OutOfMemoryError where the operating system gives none
     */
    public static Region allocate(long lengthBytes) {
        if (lengthBytes < 0) {
            throw new IllegalArgumentException(
                    "a region cannot have a negative length: lengthBytes=" + lengthBytes);
        }
        Region region = new Region(Memory.allocate(lengthBytes + ALIGNMENT_BYTES), lengthBytes);
        OPEN_COUNT.incrementAndGet();
        OPEN_BYTES.addAndGet(lengthBytes);
        return region;
    }

    /** Memory filled with zero bytes. */
    public static Region allocateZeroed(long lengthBytes) {
        Region region = allocate(lengthBytes);
        Memory.fill(null, region.address, lengthBytes, (byte) 0);
        return region;
    }

    public long address() {
        if (closed.get()) {
            throw new IllegalStateException("the region is closed: lengthBytes=" + lengthBytes);
        }
        return address;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** Regions of this process that are open. */
    public static long openCount() {
        return OPEN_COUNT.get();
    }

    /** Bytes in the open regions of this process, without alignment and allocator overhead. */
    public static long openBytes() {
        return OPEN_BYTES.get();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Memory.free(allocation);
            OPEN_COUNT.decrementAndGet();
            OPEN_BYTES.addAndGet(-lengthBytes);
        }
    }
}
