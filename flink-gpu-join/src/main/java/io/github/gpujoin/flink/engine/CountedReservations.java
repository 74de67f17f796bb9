// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.region.MemoryReservations;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reservations whose bytes are also counted elsewhere. Thread-safe.
 *
 * @param reservations that bound the memory
 * @param bytes sum over several owners
 */
record CountedReservations(MemoryReservations reservations, AtomicLong bytes)
        implements MemoryReservations {

    @Override
    public void reserve(long lengthBytes) {
        reservations.reserve(lengthBytes);
        bytes.addAndGet(lengthBytes);
    }

    @Override
    public void release(long lengthBytes) {
        bytes.addAndGet(-lengthBytes);
        reservations.release(lengthBytes);
    }

    @Override
    public long availableBytes() {
        return reservations.availableBytes();
    }
}
