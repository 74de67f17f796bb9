// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.Random;

/** Refuses memory at random while a join has chunks on the heap, so that it spills them. */
final class RefusingReservations implements MemoryReservations {

    private static final int RESERVATIONS_A_REFUSAL = 2;

    private final MemoryReservations memory;
    private final Random random = new Random(7);

    /** Set when the join is created. */
    AbstractCpuJoin<?> join;

    RefusingReservations(MemoryReservations memory) {
        this.memory = memory;
    }

    @Override
    public void reserve(long bytes) {
        if (join != null && join.chunkBytes() > 0 && random.nextInt(RESERVATIONS_A_REFUSAL) == 0) {
            throw new MemoryRefusedException("Test refuses memory: bytes=" + bytes, null);
        }
        memory.reserve(bytes);
    }

    @Override
    public void release(long bytes) {
        memory.release(bytes);
    }

    @Override
    public long availableBytes() {
        return memory.availableBytes();
    }
}
