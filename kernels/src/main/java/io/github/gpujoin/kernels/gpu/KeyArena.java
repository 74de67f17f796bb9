// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Key bytes of the rows of one input whose words are hashes. They are written to pinned buffers,
 * copied to slabs of device memory, and never move, so that a row stores their address, see {@link
 * BulkRunLayout}. Kernels compare them ({@code key_record.h}). The thread of the join claims room
 * for records, any threads write them. Not thread-safe, except for {@link #write} and {@link
 * Claim#written}.
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

    /** A buffer is a staged run whose rows are units. */
    static final int BUFFER_BYTES = UNIT_BYTES * BulkRunLayout.RUN_ROWS;

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

    /**
     * Room for the records of consecutive rows, in a buffer and on the device.
     *
     * @param pinned address in the buffer
     * @param address on the device, a multiple of 16
     */
    record Claim(StagedRun buffer, int units, long pinned, long address) {

        /** Counts the records as written, after which the buffer is copied. */
        void written() {
            buffer.written(units);
        }
    }

    private final BulkMemory memory;
    private final StagedRuns buffers;
    private final RunStaging staging;
    private final Slabs slabs;

    /** Where the first record of each buffer goes that is not copied yet, in their order. */
    private final Queue<Slab> starts = new ArrayDeque<>();

    /** A buffer for a record that exceeds others. */
    private StagedRun longBuffer;

    private long longBytes;
    private @Nullable Slab longTarget;

    /** Device of the last slab; null before the first one. */
    private @Nullable BulkDevice device;

    /** Device address of the next record. */
    private long next;

    private long slabEnd;
    private long slabBytes;

    /**
     * @param device any one of the join
     * @param memory owner of buffers, freed after {@link #finish} and the end of all copies
     * @param buffers of {@link #BUFFER_BYTES}, one of which this input may have open
     */
    KeyArena(BulkDevice device, BulkMemory memory, StagedRuns buffers, Slabs slabs) {
        this.memory = memory;
        this.buffers = buffers;
        this.staging = RunStaging.ofSingleRuns(buffers, this::copy);
        this.slabs = slabs;
        this.longBuffer = new StagedRun(0, false, DeviceCopy.NONE);
    }

    private DeviceCopy copy(long buffer, int units) {
        return copy(starts.remove(), buffer, units);
    }

    private static DeviceCopy copy(Slab target, long buffer, int units) {
        BulkDevice device = target.device();
        long bytes = (long) UNIT_BYTES * units;
        return new DeviceCopy.Started(device, device.startCopy(target.address(), buffer, bytes));
    }

    /** Returns the length of the record of a key, in units of 16 bytes. */
    static int units(int keyBytes) {
        return (int) ((Integer.BYTES + (long) keyBytes + UNIT_BYTES - 1) / UNIT_BYTES);
    }

    /** Returns how many units the next claim may have, if a record of some units is its first. */
    int room(int units) {
        int room = openUnits();
        return room >= units ? room : Math.max(units, BulkRunLayout.RUN_ROWS);
    }

    private int openUnits() {
        return (int) Math.min(staging.room(), (slabEnd - next) / UNIT_BYTES);
    }

    /** Whether a claim of some units may wait until records of earlier claims are written. */
    boolean mayWait(int units) {
        return units > BulkRunLayout.RUN_ROWS
                ? longTarget != null
                : openUnits() < units && !buffers.reserve();
    }

    /**
     * Claims room for records.
     *
     * @param units of all, at most {@link #room}
     */
    Claim claim(int units) throws InterruptedException {
        long bytes = (long) UNIT_BYTES * units;
        if (bytes > slabEnd - next) {
            staging.finish();
            addSlab(bytes);
        }
        long address = next;
        if (units > BulkRunLayout.RUN_ROWS) {
            claimLong(units);
            next += bytes;
            return new Claim(longBuffer, units, longBuffer.address(), address);
        }
        if (staging.room() < units) {
            staging.finish();
        }
        boolean isFirst = staging.room() == 0;
        RunStaging.Claim claim = staging.claim(units);
        if (isFirst) {
            starts.add(new Slab(device, address));
        }
        next += bytes;
        long pinned = claim.run().address() + (long) UNIT_BYTES * claim.first();
        return new Claim(claim.run(), units, pinned, address);
    }

    private void addSlab(long recordBytes) throws InterruptedException {
        long bytes = Math.min(MAX_SLAB_BYTES, Math.max(MIN_SLAB_BYTES, slabBytes / 4));
        bytes = BulkArena.alignedBytes(Math.max(bytes, recordBytes));
        Slab slab = slabs.allocate(bytes);
        device = slab.device();
        next = slab.address();
        slabEnd = next + bytes;
        slabBytes += bytes;
    }

    private void claimLong(int units) throws InterruptedException {
        staging.finish(); // records of a buffer are consecutive
        passLong();
        longBuffer.copy().await();
        long bytes = (long) UNIT_BYTES * units;
        if (bytes > longBytes) {
            longBytes = Long.highestOneBit(bytes) * 2;
            longBuffer = new StagedRun(memory.allocatePinned(longBytes), false, DeviceCopy.NONE);
        }
        longBuffer.claim(units);
        longTarget = new Slab(device, next);
    }

    private void passLong() throws InterruptedException {
        if (longTarget != null) {
            longBuffer.awaitWritten();
            longBuffer.passed(copy(longTarget, longBuffer.address(), longBuffer.claimedRows()));
            longTarget = null;
        }
    }

    /**
     * Writes a record to pinned memory. Any thread may call.
     *
     * @param start index of the first byte in {@code bytes}
     * @param end index after the last byte
     * @return the bytes of the record
     */
    static long write(long pinned, byte[] bytes, int start, int end) {
        int keyBytes = end - start;
        long recordBytes = (long) UNIT_BYTES * units(keyBytes);
        Memory.putLong(pinned + recordBytes - Long.BYTES, 0);
        Memory.putLong(pinned + recordBytes - 2 * Long.BYTES, 0);
        Memory.putInt(pinned, keyBytes);
        Memory.copy(bytes, Memory.BYTES + start, null, pinned + Integer.BYTES, keyBytes);
        return recordBytes;
    }

    /**
     * Passes on the last records, when they are written. Kernels read them after {@link
     * StagedRuns#passAll} and {@link BulkDevice#awaitCopies}.
     */
    void finish() throws InterruptedException {
        staging.finish();
        passLong();
    }
}
