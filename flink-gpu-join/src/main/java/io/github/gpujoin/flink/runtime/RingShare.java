// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.engine.RingMemory;
import io.github.gpujoin.flink.engine.SlotMemory;
import io.github.gpujoin.flink.exchange.ring.RingReservations;
import org.jspecify.annotations.Nullable;

/** Reserves rings in a subtask's share of managed memory, and counts them. */
final class RingShare implements RingReservations {

    private final SlotMemory memory;
    private long lengthBytes;

    RingShare(SlotMemory memory) {
        this.memory = memory;
    }

    @Override
    public AutoCloseable reserve(long bytes) {
        return counted(RingMemory.reserve(memory, bytes));
    }

    @Override
    public @Nullable AutoCloseable tryReserve(long bytes) {
        RingMemory reserved = RingMemory.tryReserve(memory, bytes);
        return reserved.lengthBytes() < bytes ? null : counted(reserved);
    }

    private RingMemory counted(RingMemory reserved) {
        lengthBytes += reserved.lengthBytes();
        return reserved;
    }

    /** Returns the sum of all reservations, also of those that are closed. */
    long lengthBytes() {
        return lengthBytes;
    }
}
