// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Off-heap memory with one owner, who closes it. All others only use addresses in it.
 *
 * <p>The address is aligned to {@value #ALIGNMENT_BYTES} bytes: a cache line, and twice the
 * smallest memory transaction of a GPU. A region of at least one page starts a page, so that no two
 * of them share a page, which a device could register only once. {@link #openCount()} and {@link
 * #openBytes()} cover the whole process, so that tests can detect leaks. A second close has no
 * effect. Addresses are invalid after the close, except for holders that {@linkplain #retain
 * retained} the memory. Thread-safe.
 */
public final class Region implements AutoCloseable {

    public static final int ALIGNMENT_BYTES = 64;

    /** Bytes of a page of memory. */
    public static final int PAGE_BYTES = 4096;

    private static final AtomicLong OPEN_COUNT = new AtomicLong();
    private static final AtomicLong OPEN_BYTES = new AtomicLong();

    private final long address;
    private final long lengthBytes;
    private final Runnable release;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** The owner, until it closes the region, and all that retain the memory. */
    private final AtomicInteger holders = new AtomicInteger(1);

    /** Guarded by itself. */
    private final Deque<Attachment> attachments = new ArrayDeque<>();

    /** A use of the memory that ends before the memory is freed, such as that by a device. */
    @FunctionalInterface
    public interface Attachment {

        /**
         * Ends the use.
         *
         * @return false if that is impossible; the memory is then never freed
         */
        boolean detach();
    }

    private Region(long address, long lengthBytes, Runnable release) {
        this.address = address;
        this.lengthBytes = lengthBytes;
        this.release = release;
        OPEN_COUNT.incrementAndGet();
        OPEN_BYTES.addAndGet(lengthBytes);
    }

    /**
     * Returns memory of unspecified content.
     *
     * @throws OutOfMemoryError if the operating system has no memory
     */
    public static Region allocate(long lengthBytes) {
        if (lengthBytes < 0) {
            throw new IllegalArgumentException(
                    "Length of a region is negative: lengthBytes=" + lengthBytes);
        }
        return allocate(lengthBytes, () -> {});
    }

    /** Returns the bytes that a region of this length takes, alignment included. */
    public static long allocatedBytes(long lengthBytes) {
        return lengthBytes + alignmentBytes(lengthBytes);
    }

    private static int alignmentBytes(long lengthBytes) {
        return lengthBytes < PAGE_BYTES ? ALIGNMENT_BYTES : PAGE_BYTES;
    }

    /**
     * Like {@link #allocate(long)}.
     *
     * @param released runs after the memory was freed
     */
    public static Region allocate(long lengthBytes, Runnable released) {
        long allocation = Memory.allocate(allocatedBytes(lengthBytes));
        long alignmentBytes = alignmentBytes(lengthBytes);
        long address = (allocation + alignmentBytes - 1) & -alignmentBytes;
        return new Region(
                address,
                lengthBytes,
                () -> {
                    Memory.free(allocation);
                    released.run();
                });
    }

    /**
     * Maps the first bytes of a file, shared with every process that maps it. Closing the region
     * unmaps them and leaves the file unchanged.
     *
     * @param file opened for reading and writing; may be closed after this call
     * @param lengthBytes from 1 to 2 GiB - 1; a shorter file grows to this length
     */
    public static Region map(FileChannel file, long lengthBytes) throws IOException {
        MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes);
        return new Region(Memory.addressOf(mapped), lengthBytes, () -> Memory.unmap(mapped));
    }

    /** Returns memory filled with zeros. */
    public static Region allocateZeroed(long lengthBytes) {
        Region region = allocate(lengthBytes);
        Memory.fill(null, region.address, lengthBytes, (byte) 0);
        return region;
    }

    /**
     * Returns the address of the first byte.
     *
     * @throws IllegalStateException if the region is closed and nobody retains it
     */
    public long address() {
        if (holders.get() == 0) {
            throw new IllegalStateException("Region is closed: lengthBytes=" + lengthBytes);
        }
        return address;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** Returns the number of open regions of this process. */
    public static long openCount() {
        return OPEN_COUNT.get();
    }

    /**
     * Returns the bytes of all open regions of this process, without alignment and allocator
     * overhead.
     */
    public static long openBytes() {
        return OPEN_BYTES.get();
    }

    /**
     * Keeps the memory readable after the owner has closed the region, until {@link #release}.
     *
     * @throws IllegalStateException if the memory is freed
     */
    public void retain() {
        if (holders.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw new IllegalStateException("Memory is freed: lengthBytes=" + lengthBytes);
        }
    }

    /** Undoes one {@link #retain}. */
    public void release() {
        if (holders.decrementAndGet() == 0) {
            free();
        }
    }

    /**
     * Adds a use of the memory, which ends before the memory is freed. The latest use ends first.
     *
     * @throws IllegalStateException if the memory is freed
     */
    public void attach(Attachment attachment) {
        synchronized (attachments) {
            if (holders.get() == 0) {
                throw new IllegalStateException("Memory is freed: lengthBytes=" + lengthBytes);
            }
            attachments.push(attachment);
        }
    }

    /** Removes a use that has ended. */
    public void detach(Attachment attachment) {
        synchronized (attachments) {
            attachments.remove(attachment);
        }
    }

    /** Frees the memory, or has its last holder free it. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            release();
        }
    }

    private @Nullable Attachment latest() {
        synchronized (attachments) {
            return attachments.poll();
        }
    }

    private void free() {
        boolean isFree = true;
        for (Attachment last = latest(); last != null; last = latest()) {
            isFree &= last.detach();
        }
        if (isFree) {
            release.run();
        }
        OPEN_COUNT.decrementAndGet();
        OPEN_BYTES.addAndGet(-lengthBytes);
    }
}
