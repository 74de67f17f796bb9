// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import org.jspecify.annotations.Nullable;

/**
 * Reserves memory for rings in the share of one subtask of the join. For the thread of its task.
 * Any thread may close a reservation once the task has closed its rings, since another subtask may
 * be the last user of the rings that it paid for.
 */
public interface RingReservations {

    /**
     * Reserves memory that the subtask cannot do without.
     *
     * @throws RuntimeException if the share is too small
     */
    AutoCloseable reserve(long lengthBytes);

    /** Reserves memory if it is a small part of the share, or returns null. */
    @Nullable AutoCloseable tryReserve(long lengthBytes);
}
