// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;

/**
 * Reservations of a join that spills chunks where memory is refused. Only the thread of the join
 * reserves.
 */
final class SpillingReservations implements MemoryReservations {

    /** Releases memory. */
    @FunctionalInterface
    interface Spill {

        /**
         * Releases at least some bytes, if so many can be.
         *
         * @param refusal receives the cause if that fails
         * @return whether anything was released
         */
        boolean release(long lengthBytes, MemoryRefusedException refusal);
    }

    private final MemoryReservations memory;
    private final Spill spill;

    SpillingReservations(MemoryReservations memory, Spill spill) {
        this.memory = memory;
        this.spill = spill;
    }

    @Override
    public void reserve(long lengthBytes) {
        while (true) {
            try {
                memory.reserve(lengthBytes);
                return;
            } catch (MemoryRefusedException e) {
                if (!spill.release(lengthBytes, e)) {
                    throw e;
                }
            }
        }
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
