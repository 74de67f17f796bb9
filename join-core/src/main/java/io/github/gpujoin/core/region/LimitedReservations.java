// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import java.util.Objects;

/** A part of the memory of several owners, used by one of them. Only one thread reserves. */
public final class LimitedReservations implements MemoryReservations {

    private final MemoryReservations memory;
    private final long limitBytes;
    private long usedBytes;

    /**
     * @param memory of all owners
     * @param limitBytes of this owner
     */
    public LimitedReservations(MemoryReservations memory, long limitBytes) {
        this.memory = Objects.requireNonNull(memory, "memory");
        this.limitBytes = limitBytes;
    }

    @Override
    public void reserve(long lengthBytes) {
        if (lengthBytes > limitBytes - usedBytes) {
            throw new MemoryRefusedException(
                    "Tables exceed their part of the memory: neededBytes=%d, usedBytes=%d, limitBytes=%d."
                            .formatted(lengthBytes, usedBytes, limitBytes),
                    null);
        }
        memory.reserve(lengthBytes);
        usedBytes += lengthBytes;
    }

    @Override
    public void release(long lengthBytes) {
        usedBytes -= lengthBytes;
        memory.release(lengthBytes);
    }

    @Override
    public long availableBytes() {
        return Math.max(0, Math.min(memory.availableBytes(), limitBytes - usedBytes));
    }
}
