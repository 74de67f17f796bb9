// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

/**
 * Writes of one process into memory of another, without a call on the other side.
 *
 * <p>The receiver registers a target and sends its descriptor to the sender over another channel
 * (the session's handshake). There are two kinds of transports. With a {@link SharedTransport} the
 * sender maps the target; with a {@link OneSidedTransport} it copies from memory of its own.
 *
 * <p>A transport does not know slots, sequences, credits or epochs. It guarantees less than a
 * socket: when it fails, writes may be lost, duplicated or torn. The session above it verifies and
 * retransmits.
 *
 * <p>Thread-safe. Threads that accept connections belong to the transport and end with it. Closing
 * a transport closes its memory and connections in reverse order; closing is idempotent.
 */
public sealed interface Transport extends AutoCloseable permits OneSidedTransport, SharedTransport {

    /** Maximum length of a descriptor, so that every handshake message can hold one. */
    int MAX_DESCRIPTOR_BYTES = 256;

    /** Maximum length of registered memory. */
    long MAX_REGISTERED_BYTES = 1L << 30;

    /** Name in options, logs and messages, such as {@code shm} or {@code disni}. */
    String name();

    /**
     * Registers zeroed memory, aligned to a page, that one peer at a time may write.
     *
     * @param lengthBytes from 1 byte to {@link #MAX_REGISTERED_BYTES}
     * @throws TransportException if memory, the device or the right to lock memory is missing
     */
    Target registerTarget(long lengthBytes) throws TransportException;

    @Override
    void close();

    /**
     * Checks the length of memory that is to be registered.
     *
     * @throws IllegalArgumentException if it is not from 1 byte to {@link #MAX_REGISTERED_BYTES}
     */
    static void requireRegistrable(long lengthBytes) {
        if (lengthBytes < 1 || lengthBytes > MAX_REGISTERED_BYTES) {
            throw new IllegalArgumentException(
                    "Cannot register memory: lengthBytes="
                            + lengthBytes
                            + ". Use 1 byte to 1 GiB.");
        }
    }
}
