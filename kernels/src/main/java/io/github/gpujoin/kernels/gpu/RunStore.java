// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs outside device memory: in pinned host memory, and beyond its limits in a file. Not
 * thread-safe, except for {@link #fileBytes}.
 */
final class RunStore implements AutoCloseable {

    private static final long SLAB_BYTES = 64L << 20;
    private static final int BUFFERS = 2;

    private final BulkDevice device;
    private final BulkMemory memory;
    private final @Nullable Path directory;
    private final int maxRunBytes;

    /** Pinned runs between the device and the file; 0 if there is no file. */
    private final long buffers;

    /** Number of the last copy to the device from each buffer. */
    private final long[] copies = {RunSink.NO_COPY, RunSink.NO_COPY};

    private int nextBuffer;
    private long next;
    private long slabEnd;
    private long hostBytes;
    private boolean isHostFull;
    private volatile @Nullable RunFile file;

    /**
     * @param memory owner of the host memory
     * @param directory of the file; null to fail instead
     * @param maxRunBytes of the longest run
     */
    RunStore(BulkDevice device, BulkMemory memory, @Nullable Path directory, int maxRunBytes) {
        this.device = device;
        this.memory = memory;
        this.directory = directory;
        this.maxRunBytes = maxRunBytes;
        this.buffers = directory == null ? 0 : memory.allocatePinned((long) BUFFERS * maxRunBytes);
    }

    /** Returns the bytes in the file. Any thread may call. */
    long fileBytes() {
        RunFile opened = file;
        return opened == null ? 0 : opened.lengthBytes();
    }

    /**
     * Pinned memory for adjacent runs, in one allocation.
     *
     * @param runs their number; 0 if the limits have no room
     */
    record Extent(long address, int runs) {

        static final Extent NONE = new Extent(0, 0);
    }

    /** Returns pinned memory for at most some runs. */
    Extent reserve(int bytes, int runs) {
        if (slabEnd - next < bytes && !isHostFull) {
            addSlab(bytes);
        }
        int fitting = (int) Math.min(runs, (slabEnd - next) / bytes);
        if (fitting == 0) {
            return Extent.NONE;
        }
        Extent extent = new Extent(next, fitting);
        next += (long) fitting * bytes;
        return extent;
    }

    /** Returns pinned memory for a run; 0 if the limits have no room. */
    long reserve(int bytes) {
        return reserve(bytes, 1).address();
    }

    /**
     * Slabs grow with the memory, so that little is pinned in vain; near the limit they shrink.
     * Joins have the same sizes, and so use each other's slabs.
     */
    private void addSlab(int bytes) {
        long slabBytes =
                bytes * Long.highestOneBit(Math.max(1, Math.min(SLAB_BYTES, hostBytes) / bytes));
        while (!isHostFull) {
            try {
                next = memory.allocatePinned(slabBytes);
                slabEnd = next + slabBytes;
                hostBytes += slabBytes;
                return;
            } catch (GpuUnavailableException e) {
                if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                    throw e;
                }
                isHostFull = slabBytes == bytes;
                slabBytes = Math.max(bytes, slabBytes / 2);
            }
        }
    }

    /** Stores a run of pinned memory. */
    StoredRun add(long pinnedRun, int bytes, int rows) {
        long address = reserve(bytes);
        if (address == 0) {
            return StoredRun.inFile(openFile().append(pinnedRun, bytes), rows);
        }
        Memory.copy(null, pinnedRun, null, address, bytes);
        return StoredRun.inMemory(address, rows);
    }

    /** Writes a run of device memory to the file. */
    StoredRun addToFile(long deviceRun, int bytes, int rows) throws InterruptedException {
        RunFile opened = openFile();
        device.awaitCopyToHost(device.startCopyToHost(buffers, deviceRun, bytes));
        return StoredRun.inFile(opened.append(buffers, bytes), rows);
    }

    private RunFile openFile() {
        if (directory == null) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Inputs of a bulk join exceed the device memory and the host memory: hostBytes=%d. Name a directory for spilled rows, or allow more host memory."
                            .formatted(hostBytes));
        }
        RunFile opened = file;
        if (opened == null) {
            opened = new RunFile(directory);
            file = opened;
        }
        return opened;
    }

    /**
     * Starts to copy runs to the device, adjacent ones together, and returns the number of the last
     * copy.
     *
     * @param runs at least one
     * @param deviceAddress of the first one, before the others
     */
    long startCopies(List<StoredRun> runs, long deviceAddress, int bytes)
            throws InterruptedException {
        long copy = RunSink.NO_COPY;
        long target = deviceAddress;
        for (int first = 0; first < runs.size(); ) {
            int end = first + 1;
            while (end < runs.size() && runs.get(end).isAfterAnother()) {
                end++;
            }
            copy = startCopy(runs.get(first), target, (long) (end - first) * bytes);
            target += (long) (end - first) * bytes;
            first = end;
        }
        return copy;
    }

    /**
     * @param bytes of a run, and of those after it in memory
     */
    private long startCopy(StoredRun run, long deviceAddress, long bytes)
            throws InterruptedException {
        if (!run.isInFile()) {
            return device.startCopy(deviceAddress, run.address(), bytes);
        }
        int buffer = nextBuffer;
        device.awaitCopy(copies[buffer]);
        long address = buffers + (long) buffer * maxRunBytes;
        openFile().read(run.position(), address, (int) bytes);
        copies[buffer] = device.startCopy(deviceAddress, address, bytes);
        nextBuffer = (buffer + 1) % BUFFERS;
        return copies[buffer];
    }

    /** Closes the file; the owner frees the host memory. */
    @Override
    public void close() {
        RunFile opened = file;
        if (opened != null) {
            opened.close();
        }
    }
}
