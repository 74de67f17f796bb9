// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;

/**
 * Reservations of an index that is created before its join. From then on they are those of the
 * join, which spills chunks where memory is refused.
 */
final class IndexMemory implements MemoryReservations {

    private MemoryReservations memory;

    IndexMemory(MemoryReservations hostMemory) {
        this.memory = hostMemory;
    }

    /** Sets the memory of the join, which has the same owner. */
    void spillBy(MemoryReservations ofJoin) {
        memory = ofJoin;
    }

    @Override
    public void reserve(long lengthBytes) {
        memory.reserve(lengthBytes);
    }

    @Override
    public void release(long lengthBytes) {
        memory.release(lengthBytes);
    }

    @Override
    public long availableBytes() {
        return memory.availableBytes();
    }
}
