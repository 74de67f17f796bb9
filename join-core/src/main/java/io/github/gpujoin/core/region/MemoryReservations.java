// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

/** Bounds memory that its callers allocate themselves. Thread-safe. */
public interface MemoryReservations {

    /** Returns reservations that always succeed. */
    static MemoryReservations unlimited() {
        return UnlimitedReservations.INSTANCE;
    }

    /**
     * Reserves memory before it is allocated.
     *
     * @throws MemoryRefusedException if there is no room for so many bytes
     */
    void reserve(long lengthBytes);

    /** Returns reserved bytes after their memory was freed. */
    void release(long lengthBytes);

    /** Bytes that may still be reserved; other callers may reserve them first. */
    long availableBytes();
}
