// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import org.jspecify.annotations.Nullable;

/**
 * The links of one input of a symmetric join in device memory, by id.
 *
 * <pre>
 *   capacity links to next rows, 4 bytes | capacity links to previous rows, if rows are removed
 * </pre>
 */
final class MatchLinks {

    private static final long MIN_IDS = 1 << 12;

    private final MatchDevice device;
    private final boolean hasPrevious;
    private @Nullable BulkMemory memory;
    private long address;
    private long capacity;

    MatchLinks(MatchDevice device, boolean hasPrevious) {
        this.device = device;
        this.hasPrevious = hasPrevious;
    }

    /**
     * Makes room for some ids.
     *
     * @return whether addresses have changed
     */
    boolean reserve(long ids) {
        if (ids <= capacity) {
            return false;
        }
        long grown = Math.max(MIN_IDS, capacity);
        while (grown < ids) {
            grown *= 2;
        }
        BulkMemory target = device.newMemory();
        long targetAddress = target.allocate((hasPrevious ? 2 : 1) * Integer.BYTES * grown);
        if (memory != null) {
            copy(targetAddress, address);
            if (hasPrevious) {
                copy(targetAddress + Integer.BYTES * grown, previousAddress());
            }
            // the memory is freed when the kernels have ended
            memory.close();
        }
        memory = target;
        address = targetAddress;
        capacity = grown;
        return true;
    }

    private void copy(long target, long source) {
        long words = capacity * Integer.BYTES / Long.BYTES;
        device.await(device.launch("gpujoin_match_copy", words, target, source, words));
    }

    long nextAddress() {
        return address;
    }

    /** Returns 0 if rows are never removed. */
    long previousAddress() {
        return hasPrevious ? address + Integer.BYTES * capacity : 0;
    }
}
