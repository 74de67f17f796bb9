// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Key bytes of the rows of one input whose words are hashes. They are written to pinned buffers,
 * copied to slabs of device memory, and never move, so that a row stores their address, see {@link
 * BulkRunLayout}. Kernels compare them ({@code key_record.h}). Not thread-safe.
 *
 * <pre>
 *  record   0          4                       a multiple of 16
 *           +----------+-----------+-----------+
 *           | int32    | key bytes | zeros     |
 *           | length   |           |           |
 *           +----------+-----------+-----------+
 * </pre>
 */
final class KeyArena {

    /** What a kernel reads at once, KeyUnit of {@code key_record.h}. */
    private static final int UNIT_BYTES = 16;

    private static final int BUFFERS = 2;
    private static final long BUFFER_BYTES = 1 << 20;
    private static final long MIN_SLAB_BYTES = 256 << 10;
    private static final long MAX_SLAB_BYTES = 64 << 20;

    /**
     * Device memory, aligned to 256 bytes.
     *
     * @param device that copies to it
     */
    record Slab(BulkDevice device, long address) {}

    /** Allocates device memory that remains until the join is closed. */
    @FunctionalInterface
    interface Slabs {

        /**
         * Returns a slab.
         *
         * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no room
         */
        Slab allocate(long lengthBytes) throws InterruptedException;
    }

    private final BulkMemory staging;
    private final Slabs slabs;

    private long buffers;
    private long bufferBytes;
    private int filled;
    private long filledBytes;

    /** The last copy of each buffer. */
    private final DeviceCopy[] copies = new DeviceCopy[BUFFERS];

    /** Device of the last slab; null before the first one. */
    private @Nullable BulkDevice device;

    /** Device address of the next record. */
    private long next;

    private long slabEnd;
    private long slabBytes;

    /**
     * Reserves the buffers.
     *
     * @param device any one of the join
     * @param staging owner of the buffers, freed after {@link #finish} and the end of all copies
     */
    KeyArena(BulkDevice device, BulkMemory staging, Slabs slabs) {
        this.staging = staging;
        this.slabs = slabs;
        Arrays.fill(copies, DeviceCopy.none(device));
        allocateBuffers(BUFFER_BYTES);
    }

    private void allocateBuffers(long bytes) {
        buffers = staging.allocatePinned(BUFFERS * bytes);
        bufferBytes = bytes;
    }

    /**
     * Adds the key bytes of a row.
     *
     * @param start index of the first byte in {@code bytes}
     * @param end index after the last byte
     * @return device address of the record, a multiple of 16
     */
    long append(byte[] bytes, int start, int end) throws InterruptedException {
        int keyBytes = end - start;
        long recordBytes = (Integer.BYTES + (long) keyBytes + UNIT_BYTES - 1) & -UNIT_BYTES;
        makeRoom(recordBytes);
        long target = buffers + filled * bufferBytes + filledBytes;
        Memory.fill(null, target + recordBytes - UNIT_BYTES, UNIT_BYTES, (byte) 0);
        Memory.putInt(target, keyBytes);
        Memory.copy(bytes, Memory.BYTES + start, null, target + Integer.BYTES, keyBytes);
        long address = next;
        next += recordBytes;
        filledBytes += recordBytes;
        return address;
    }

    /** A buffer has records of one slab, and a record lies in one buffer. */
    private void makeRoom(long recordBytes) throws InterruptedException {
        if (recordBytes > slabEnd - next) {
            finish();
            long bytes = Math.min(MAX_SLAB_BYTES, Math.max(MIN_SLAB_BYTES, slabBytes / 4));
            bytes = BulkArena.alignedBytes(Math.max(bytes, recordBytes));
            Slab slab = slabs.allocate(bytes);
            device = slab.device();
            next = slab.address();
            slabEnd = next + bytes;
            slabBytes += bytes;
        }
        if (recordBytes > bufferBytes - filledBytes) {
            finish();
        }
        if (recordBytes > bufferBytes) {
            // copies may still read the smaller buffers, which their owner frees
            allocateBuffers(Long.highestOneBit(recordBytes) * 2);
        }
    }

    /** Starts to copy the last records. Kernels read them after {@link BulkDevice#awaitCopies}. */
    void finish() throws InterruptedException {
        if (filledBytes > 0) {
            long buffer = buffers + filled * bufferBytes;
            long copy = device.startCopy(next - filledBytes, buffer, filledBytes);
            copies[filled] = new DeviceCopy(device, copy);
            filledBytes = 0;
            filled = (filled + 1) % BUFFERS;
            copies[filled].await();
        }
    }
}
