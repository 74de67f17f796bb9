// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

/** Memory that a {@link Transport} registered or mapped. */
public interface RegisteredMemory extends AutoCloseable {

    /** Address in this process or of a device; valid until closed. */
    long address();

    long lengthBytes();

    /**
     * Checks, before the addresses are used, that memory still backs them.
     *
     * @throws TransportException if another process removed the memory
     */
    default void requireIntact() throws TransportException {}

    /** Releases the memory. Idempotent. */
    @Override
    void close();
}
