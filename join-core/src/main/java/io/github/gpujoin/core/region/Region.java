package io.github.gpujoin.core.region;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
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

    private final long address;
    private final long lengthBytes;
    private final Runnable release;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Region(long address, long lengthBytes, Runnable release) {
        this.address = address;
        this.lengthBytes = lengthBytes;
        this.release = release;
        OPEN_COUNT.incrementAndGet();
        OPEN_BYTES.addAndGet(lengthBytes);
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
        return allocate(lengthBytes, () -> {});
    }

    /**
     * As {@link #allocate(long)}.
     *
     * @param released run once the memory is given back
     */
    public static Region allocate(long lengthBytes, Runnable released) {
        long allocation = Memory.allocate(lengthBytes + ALIGNMENT_BYTES);
        long address = (allocation + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
        return new Region(
                address,
                lengthBytes,
                () -> {
                    Memory.free(allocation);
                    released.run();
                });
    }

    /**
     * The first bytes of a file, shared with every process that maps it. Closing unmaps them and
     * leaves the file as it is.
     *
     * @param file opened for reading and writing; may be closed at once
     * @param lengthBytes from 1 to 2 GiB - 1; a shorter file grows to it
     */
    public static Region map(FileChannel file, long lengthBytes) throws IOException {
        MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes);
        return new Region(Memory.addressOf(mapped), lengthBytes, () -> Memory.unmap(mapped));
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
            release.run();
            OPEN_COUNT.decrementAndGet();
            OPEN_BYTES.addAndGet(-lengthBytes);
        }
    }
}
