// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/**
 * Device memory that is reserved once, and used by one step of a join after another. Not
 * thread-safe.
 */
final class BulkArena implements BulkAllocator {

    static final long ALIGNMENT_BYTES = ResidentCall.ALIGNMENT_BYTES;

    private final long start;
    private final long lengthBytes;
    private long usedBytes;

    /**
     * @param start device address, aligned
     */
    BulkArena(long start, long lengthBytes) {
        this.start = start;
        this.lengthBytes = lengthBytes;
    }

    /** Returns the bytes that an allocation occupies. */
    static long alignedBytes(long lengthBytes) {
        return (lengthBytes + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
    }

    @Override
    public long allocate(long bytes) {
        if (bytes > availableBytes()) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "A step of a bulk join needs more memory than was reserved: lengthBytes=%d, usedBytes=%d, bytes=%d"
                            .formatted(lengthBytes, usedBytes, bytes));
        }
        long address = start + usedBytes;
        usedBytes += alignedBytes(bytes);
        return address;
    }

    @Override
    public long availableBytes() {
        return Math.max(0, lengthBytes - usedBytes);
    }

    /** Returns the bytes of all of it. */
    long lengthBytes() {
        return lengthBytes;
    }

    /** Frees all allocations. */
    void reset() {
        usedBytes = 0;
    }
}
