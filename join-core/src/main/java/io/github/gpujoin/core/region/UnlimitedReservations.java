// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

/** Reservations that always succeed. */
enum UnlimitedReservations implements MemoryReservations {
    INSTANCE;

    @Override
    public void reserve(long lengthBytes) {}

    @Override
    public void release(long lengthBytes) {}

    @Override
    public long availableBytes() {
        return Long.MAX_VALUE;
    }
}
